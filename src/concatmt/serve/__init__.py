"""A server of translations: the interfaces that existing programs speak, ours, and a page."""
