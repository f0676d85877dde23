"""Publishing: a named set of questions about a period, answered once and written for readers and for programs."""

from tacit.publishing.asking import Published, preview, publish
from tacit.publishing.edition import Asked, Edition, read_edition

__all__ = ["Asked", "Edition", "Published", "preview", "publish", "read_edition"]
