"""The discourse testbed: generated documents whose bounds are known exactly.

latents -> bounds            what can be known, and by which observer
words, russian, german       the lexicon and word order of each pair, as data
surface -> phenomena         one small function per task tells a latent in words
scenes -> documents          scenes and ordinary sentences make documents and contrastive items
card, corpus                 figures, and the files
"""
