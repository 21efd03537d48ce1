"""Tokens' texts, out of whatever the caller has for a tokenizer."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from . import _values as values


def _byte_alphabet() -> Dict[str, int]:
    """GPT-2's letters for bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(b): b for b in shown}
    hidden = [b for b in range(256) if b not in set(shown)]
    table.update({chr(256 + i): b for i, b in enumerate(hidden)})
    return table


BYTES = _byte_alphabet()


def pieces_of(tokenizer: Any) -> Callable[[int], Optional[bytes]]:
    """id → the token's bytes, for Hugging Face's tokenizers, a callable, a dict or None."""
    if tokenizer is None:
        return lambda token: None

    def raw(value: Any) -> Optional[bytes]:
        if value is None:
            return None
        return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")

    if isinstance(tokenizer, dict):
        if tokenizer and all(isinstance(key, str) for key in tokenizer):  # a vocabulary: text → id
            turned = {index: text for text, index in tokenizer.items()}
            return lambda token: raw(turned.get(token))
        return lambda token: raw(tokenizer.get(token))
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        backend = getattr(tokenizer, "backend_tokenizer", None)
        whole = set(getattr(tokenizer, "all_special_ids", ()) or ())
        added = getattr(tokenizer, "added_tokens_decoder", None) or {}
        is_bytes = "ByteLevel" in repr(getattr(backend, "decoder", "")) if backend is not None else hasattr(
            tokenizer, "byte_decoder")

        def huggingface(token: int) -> Optional[bytes]:
            text = tokenizer.convert_ids_to_tokens(token)
            if text is None:
                return None
            if isinstance(text, bytes):
                return text
            if token in whole or token in added:
                return text.encode()
            if is_bytes and all(c in BYTES for c in text):
                return bytes(BYTES[c] for c in text)
            if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
                return bytes([int(text[3:5], 16)])
            return text.replace("\u2581", " ").encode("utf-8", "replace")

        return huggingface
    if hasattr(tokenizer, "id_to_token"):  # the tokenizers library
        is_bytes = "ByteLevel" in repr(getattr(tokenizer, "decoder", ""))

        def fast(token: int) -> Optional[bytes]:
            text = tokenizer.id_to_token(token)
            if text is None:
                return None
            if is_bytes and all(c in BYTES for c in text):
                return bytes(BYTES[c] for c in text)
            return text.replace("\u2581", " ").encode()

        return fast
    if hasattr(tokenizer, "id_to_piece") or hasattr(tokenizer, "IdToPiece"):  # sentencepiece
        get = getattr(tokenizer, "id_to_piece", None) or tokenizer.IdToPiece
        return lambda token: get(token).replace("\u2581", " ").encode()
    if callable(tokenizer):
        return lambda token: raw(tokenizer(token))
    if hasattr(tokenizer, "decode"):
        return lambda token: raw(tokenizer.decode([token]))
    raise values.wrong("Recorder(tokenizer=…)", "a tokenizer, a function of an id, a dict or None", tokenizer,
                "pass lambda token: text")
