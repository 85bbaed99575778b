"""Converts models from and to other toolkits: fairseq, Marian, Hugging Face, CTranslate2."""
