"""Files as people have them: what is to be translated in them, and the same file back around it."""
