"""The translation model: Transformer, sentence-position encodings, loss, model directories."""
