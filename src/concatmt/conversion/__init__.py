"""Models in and out: fairseq, Marian, Hugging Face, CTranslate2."""
