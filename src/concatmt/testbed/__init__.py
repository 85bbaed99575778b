"""The discourse testbed: generated documents whose bounds are known exactly.

latents -> bounds                    what can be known, and by which observer
words; english, russian, german      lexicon and word order of each pair, as data
surface -> sentences -> phenomena    one small function per task tells a latent in words
scenes -> documents, contrastive     scenes make documents with ordinary sentences, and orbits
dials, card, corpus                  settings, figures, and the files
"""
