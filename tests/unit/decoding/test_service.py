"""Passages from many threads join one running search, and each gets what it would get alone."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from concatmt.decoding.config import PoolConfig, SearchConfig, TranslateConfig
from concatmt.decoding.glossary import Glossary, Term
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.service import Cancelled, Closed, Service
from concatmt.decoding.translation import Passage, Report, Translation
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError

TEXT = "The house is old and Anna likes her garden where she reads"
WORDS = TEXT.split()
CONFIG = TranslateConfig(
    search=SearchConfig(beam=2, length_factor=0.5, length_constant=2),
    pool=PoolConfig(windows=8, tokens=256, threads=2),
)


@pytest.fixture(scope="module")
def loaded(model_folder: Path) -> LoadedModel:
    return LoadedModel.load(model_folder)


def translator_of(loaded: LoadedModel, **changes: object) -> Translator:
    return Translator(loaded.engine, loaded.text, CONFIG.model_copy(update=changes))


def document(number: int) -> list[str]:
    """1 to 7 sentences, some of them empty and one now and then far too long for its row."""
    sentences = [" ".join(WORDS[(number + i) % 5 :][: 1 + (number * i) % 6]) for i in range(7)]
    if number % 5 == 4:
        sentences[0] = " ".join(WORDS * 8)
    if number % 4 == 3:
        sentences[1] = ""
    return sentences[: 1 + number % 7]


def texts(translations: list[Translation]) -> list[str]:
    return [one.text for one in translations]


@pytest.mark.parametrize("mode", ["prefix", "redecode"])
def test_passages_of_many_threads_are_translated_as_alone(loaded: LoadedModel, mode: str) -> None:
    translator = translator_of(loaded, mode=mode)
    documents = [document(number) for number in range(15)]
    alone = [texts(one) for one in translator.translate_documents(documents)]
    told: list[list[tuple[int, Translation]]] = [[] for _ in documents]
    ends: list[list[BaseException | None]] = [[] for _ in documents]
    with Service(translator) as service, ThreadPoolExecutor(6) as callers:

        def ask(number: int) -> list[Translation]:
            def hear(place: int, translation: Translation) -> None:
                told[number].append((place, translation))

            request = service.submit(Passage(documents[number]), hear, ends[number].append)
            return request.result(60)

        found = list(callers.map(ask, range(len(documents))))
    assert [texts(one) for one in found] == alone
    assert told == [list(enumerate(one)) for one in found]
    assert ends == [[None]] * len(documents)
    load = service.load()
    assert (load.searching, load.waiting, load.requests) == (0, 0, 0)
    assert load.steps > 0


def test_four_sentences_keep_two_threads_busy(model_folder: Path) -> None:
    loaded = LoadedModel.load(model_folder)
    both = threading.Barrier(2)
    encode, seen = loaded.engine.encode, set()

    def meet(*args: Any) -> Any:
        if threading.get_ident() not in seen:  # the first time, until the other thread is here
            seen.add(threading.get_ident())
            both.wait(30)
        return encode(*args)

    loaded.engine.encode = meet  # type: ignore[method-assign]
    for mode in ("redecode", "prefix"):
        seen.clear()
        with Service(translator_of(loaded, mode=mode)) as service:
            while service._queue.idle < 2:
                time.sleep(0.001)
            passages = [WORDS[:4]] if mode == "redecode" else [[word] for word in WORDS[:4]]
            requests = [service.submit(Passage(passage)) for passage in passages]
            found = [one for request in requests for one in request.result(60)]
        assert [one.source for one in found] == WORDS[:4]
        assert len(seen) == 2


def test_a_request_has_alternatives_and_context_of_its_own(loaded: LoadedModel) -> None:
    source = document(6)
    with Service(translator_of(loaded)) as service:
        usual, alone, many = (
            service.submit(Passage(source), nbest=nbest, context=context)
            for nbest, context in ((None, None), (None, 0), (2, None))
        )
        assert texts(usual.result(60)) == texts(many.result(60))
        assert texts(alone.result(60)) == texts(
            translator_of(loaded, context=0).translate_document(source)
        )
        assert [len(one.alternatives) for one in usual.result()] == [1] * len(source)
        assert [len(one.alternatives) for one in many.result()] == [2] * len(source)
        with pytest.raises(UserError, match="at most 3"):
            service.submit(Passage(source), context=3)


def test_settled_sentences_come_in_their_place_and_are_context(loaded: LoadedModel) -> None:
    translator, source = translator_of(loaded), document(6)
    before = translator.translate_document(source)
    edited = translator.retranslate(before, {0: "Ein Satz.", 1: "Noch einer."})
    given = [*texts(edited)[:2], *[None] * (len(source) - 2)]
    with Service(translator) as service:
        found = service.submit(Passage(source, given=given)).result(60)
    assert texts(found) == texts(edited)


def endless(count: int = 3000) -> Passage:
    return Passage([WORDS[i % len(WORDS)] for i in range(count)])


def wait_for(condition: object, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.005)


def test_who_hangs_up_frees_the_rows_and_short_requests_pass_long_ones(
    loaded: LoadedModel,
) -> None:
    ends: list[BaseException | None] = []
    with Service(translator_of(loaded)) as service:
        # More documents than there are rows: all wait for their turn.
        long = [service.submit(endless(), on_end=ends.append) for _ in range(40)]
        wait_for(lambda: service.load().searching >= 8)
        short = service.submit(Passage(["Anna reads"]))
        assert len(short.result(60)) == 1
        assert not any(one.done for one in long)
        for one in long:
            one.cancel()
            one.cancel()
        for one in long:
            with pytest.raises(Cancelled):
                one.result(60)
        wait_for(lambda: service.load().searching == 0)
        assert [type(end) for end in ends] == [Cancelled] * 40
        assert len(service.submit(Passage(["Anna reads"])).result(60)) == 1


GLOSSARY = Glossary((Term("house", ("Garten",)), Term("garden", ("ein Haus",))))
TERM_SEARCH = SearchConfig(beam=2, length_factor=0.3, length_constant=12)


@pytest.mark.parametrize("mode", ["prefix", "redecode"])
def test_a_request_has_terms_of_its_own(loaded: LoadedModel, tmp_path: Path, mode: str) -> None:
    (tmp_path / "terms.tsv").write_text("house\tGarten\ngarden\tein Haus\n")
    plain = translator_of(loaded, search=TERM_SEARCH, mode=mode)
    with_terms = translator_of(
        loaded, search=TERM_SEARCH, mode=mode, glossary=tmp_path / "terms.tsv"
    )
    source = ["The house is old.", "Anna likes it.", "A house, a garden."]
    expected = Report()
    alone = texts(with_terms.translate_document(source, report=expected))
    assert alone != texts(plain.translate_document(source))
    with Service(plain) as service:
        usual = service.submit(Passage(source))
        aimed = [service.submit(Passage(source), glossary=GLOSSARY) for _ in range(4)]
        assert [texts(one.result(60)) for one in aimed] == [alone] * 4
        assert texts(usual.result(60)) == texts(plain.translate_document(source))
        assert aimed[0].report.terms == expected.terms


@pytest.mark.parametrize("kind", ["long", "terms"])
def test_what_is_searched_apart_does_not_hold_up_the_others(loaded: LoadedModel, kind: str) -> None:
    long = " ".join(WORDS * 8)
    source = [long] * 3 if kind == "long" else ["The house is old."] * 12
    glossary = GLOSSARY if kind == "terms" else None
    pool = PoolConfig(windows=8, tokens=256, threads=1)
    with Service(translator_of(loaded, pool=pool, search=TERM_SEARCH)) as service:
        apart = [service.submit(Passage(source), glossary=glossary) for _ in range(24)]
        while service.load().searching < 1:
            time.sleep(0.001)
        before = sum(len(one.translations) for one in apart)
        service.submit(Passage(["Anna likes it."])).result(60)
        # One at a time is searched, and takes longer than the short one.
        assert sum(len(one.translations) for one in apart) - before < 8
        for one in apart:
            one.result(60)


def test_an_error_reaches_its_own_request_only(loaded: LoadedModel) -> None:
    def fail(place: int, translation: Translation) -> None:
        raise ZeroDivisionError(place)

    refusing = translator_of(loaded, long="error", max_tokens=40)
    with Service(refusing) as service:
        others = [service.submit(Passage(document(number))) for number in range(4)]
        broken = service.submit(Passage(document(6)), on_sentence=fail)
        too_long = service.submit(Passage(["Anna", " ".join(WORDS * 8)]))
        with pytest.raises(ZeroDivisionError):
            broken.result(60)
        with pytest.raises(UserError, match="a sentence of .* tokens"):
            too_long.result(60)
        assert [len(one.result(60)) for one in others] == [1, 2, 3, 4]
        # Something that nobody foresaw, in the search itself.
        engine, decode = refusing.engine, refusing.engine.decode
        try:
            engine.decode = None  # type: ignore[method-assign, assignment]
            with pytest.raises(TypeError):
                service.submit(Passage(document(5))).result(60)
        finally:
            engine.decode = decode  # type: ignore[method-assign]
        assert len(service.submit(Passage(document(5))).result(60)) == 6


def test_a_closed_service_finishes_or_cancels_what_it_has(loaded: LoadedModel) -> None:
    service = Service(translator_of(loaded))
    accepted = [service.submit(Passage(document(number))) for number in range(10)]
    service.close(drain=True)
    assert [len(one.result(0)) for one in accepted] == [1 + i % 7 for i in range(10)]
    with pytest.raises(Closed):
        service.submit(Passage(["Anna"]))
    service = Service(translator_of(loaded))
    accepted = [service.submit(endless()) for _ in range(10)]
    service.close(drain=False)
    for one in accepted:
        with pytest.raises(Cancelled):
            one.result(0)
    with pytest.raises(TimeoutError), Service(translator_of(loaded)) as service:
        service.submit(endless()).result(0.01)


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_translating_leaves_the_callers_torch_as_it_was(loaded: LoadedModel) -> None:
    """Neither the thread that calls nor one that begins later computes with fewer cores."""
    inside, later = [], []
    decode = loaded.engine.decode

    def watch(*arguments: object) -> object:
        inside.append(torch.get_num_threads())
        return decode(*arguments)  # type: ignore[arg-type]

    loaded.engine.decode = watch  # type: ignore[method-assign, assignment]
    try:
        documents = [document(i) for i in range(10)]
        list(translator_of(loaded, mode="redecode").translate_documents(documents))
        with Service(translator_of(loaded)) as service:
            service.submit(Passage(document(6))).result(60)
            thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
            thread.start()
            thread.join()
            assert torch.get_num_threads() == 2
    finally:
        loaded.engine.decode = decode  # type: ignore[method-assign]
    assert set(inside) == {1}
    assert later == [2]
