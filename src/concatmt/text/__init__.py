"""Turns text into token ids and back; knows sentences, not documents."""
