"""What the Transformer is made of: sharing, starting values, norms, masks, dropout, precision."""

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from concatmt.corpus.batch import WindowBatch
from concatmt.model.blocks import Attention
from concatmt.model.config import SIZES
from concatmt.model.loss import LossConfig, discount_weights, window_loss
from concatmt.model.transformer import Transformer
from concatmt.model.views import View
from tests.unit.model.small_models import build, log_probs, random_batch


def gradients(model: torch.nn.Module, plain: Transformer, batch: WindowBatch) -> dict[str, Tensor]:
    plain.zero_grad()
    weights = discount_weights(batch.target, 0.5)
    loss = window_loss(model(batch), plain.output.weight, batch.target, weights, LossConfig())
    loss.mean.backward()
    return {name: p.grad.clone() for name, p in plain.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(
    ("embeddings", "count"), [("separate", 3), ("decoder-tied", 2), ("shared", 1)]
)
def test_embeddings_are_shared_as_asked(embeddings: str, count: int) -> None:
    model = build("base", embeddings=embeddings)
    matrices = {
        id(weight)
        for weight in (
            model.source_embedding.weight,
            model.target_embedding.weight,
            model.output.weight,
        )
    }
    assert len(matrices) == count


def test_base_has_the_parameters_of_transformer_base() -> None:
    """By hand, without embeddings: 6 (4 D^2 + 2 D F) + 6 (8 D^2 + 2 D F), biases and norms."""
    dim, inner = 512, 2048
    encoder = 4 * (dim * dim + dim) + 2 * dim * inner + inner + dim + 4 * dim
    decoder = encoder + 4 * (dim * dim + dim) + 2 * dim
    model = Transformer(build("base").config.model_copy(update={"architecture": SIZES["base"]}))
    blocks = [p.numel() for stack in (model.encoder, model.decoder) for p in stack.parameters()]
    assert sum(blocks) == 6 * (encoder + decoder)


def test_weights_start_as_those_of_fairseq() -> None:
    model = build("s4to4+lrn", dim=64, embeddings="separate")
    for weight in (model.source_embedding.weight, model.target_embedding.weight):
        assert not weight[0].any()
        assert float(weight[1:].detach().std()) == pytest.approx(1 / 8, rel=0.1)
    block = model.decoder[0]
    bound = (6 / 128) ** 0.5
    query = block.self_attention.qkv.weight[:64].detach()
    assert bound / 2**0.5 * 0.97 < float(query.abs().max()) <= bound / 2**0.5
    assert bound * 0.97 < float(block.cross_attention.output.weight.detach().abs().max()) <= bound
    assert not block.self_attention.output.bias.any()
    assert 0.8 < float(model.encoding.weight.detach().std()) < 1.2


@pytest.mark.parametrize("embeddings", ["separate", "decoder-tied", "shared"])
def test_the_same_seed_gives_the_same_weights(embeddings: str) -> None:
    first, second = (build("s4to4+lrn", embeddings=embeddings).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["source_embedding.weight"], build("base", 1).output.weight)


def test_only_pre_norm_has_a_norm_after_the_last_block() -> None:
    names = dict(build("base").named_parameters())
    assert "encoder_norm.weight" not in names
    assert {"encoder_norm.weight", "decoder_norm.bias"} <= dict(
        build("base", norm="pre").named_parameters()
    ).keys()


def test_windows_of_one_length_need_no_mask() -> None:
    model = build("s2to2")
    even = WindowBatch.from_lists([[[5], [6]], [[7], [8]]], [[[5], [6]], [[7], [8]]])
    assert model.encode(even.source, even.sentences).mask is None
    uneven = WindowBatch.from_lists([[[5], [6, 6]], [[7], [8]]], [[[5], [6]], [[7], [8]]])
    assert model.encode(uneven.source, uneven.sentences).mask is not None


@pytest.mark.parametrize("kind", ["dropout", "attention_dropout", "activation_dropout"])
def test_dropout_acts_in_training_alone_and_follows_the_seed(kind: str) -> None:
    model = build("s3to3+sin+pers", **{"dropout": 0.0, kind: 0.4})
    batch = random_batch(model)
    assert torch.equal(log_probs(model, batch), log_probs(model, batch))
    model.train()
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outputs.append(log_probs(model, batch))
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])


@pytest.mark.parametrize(
    "system", ["s4to4+shift3+pers", "s4to4+lrn+pers+pse", "s4to4+rope", "s4to4+sync"]
)
def test_bfloat16_autocast_trains_near_float32(system: str) -> None:
    model = build(system, dropout=0.2).train()
    batch = random_batch(model)
    torch.manual_seed(0)
    exact = gradients(model, model, batch)
    torch.manual_seed(0)
    with torch.autocast("cpu", torch.bfloat16):
        rough = gradients(model, model, batch)
    for name, gradient in exact.items():
        assert rough[name].dtype == torch.float32
        assert (rough[name] - gradient).norm() < 0.2 * gradient.norm() + 1e-2, name


@pytest.mark.parametrize("causal", [False, True])
def test_attention_in_bfloat16_is_that_of_the_fused_kernel_in_float32(causal: bool) -> None:
    """Values and gradients, within what the rounding of a product to 8 bits leaves."""
    generator = torch.Generator().manual_seed(1)
    q, k, v, slope = torch.randn(4, 2, 4, 9, 16, generator=generator)
    mask = torch.zeros(2, 1, 1, 9)
    mask[0, ..., 6:] = -torch.inf
    view = View(None if causal else mask, causal)
    results = []
    for dtype in (torch.float32, torch.bfloat16):
        parts = [x.to(dtype, copy=True).requires_grad_() for x in (q, k, v)]
        y = Attention(64, 4, 0.0).attend(parts[0], (parts[1], parts[2]), view)
        y.backward(slope.to(dtype).transpose(1, 2).flatten(2))
        results.append([y.detach().float(), *(x.grad.float() for x in parts if x.grad is not None)])
    for exact, rough in zip(*results, strict=True):
        assert (rough - exact).norm() < 0.02 * exact.norm()


def test_gradients_through_ddp_are_those_of_the_model(tmp_path: Path) -> None:
    model = build("s4to4+lrn+pers+pse")
    batch = random_batch(model)
    expected = gradients(model, model, batch)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1
    )
    try:
        wrapped = gradients(DistributedDataParallel(model), model, batch)
    finally:
        torch.distributed.destroy_process_group()
    assert expected.keys() == wrapped.keys() == dict(model.named_parameters()).keys()
    assert all(torch.equal(expected[name], wrapped[name]) for name in expected)


def test_the_model_can_be_compiled() -> None:
    model = build("s3to3+1hot+pse")
    batch = random_batch(model)
    compiled = torch.compile(model, backend="eager")
    with torch.no_grad():
        assert torch.allclose(model.log_probs(compiled(batch)), log_probs(model, batch), atol=1e-6)
