#!/usr/bin/env python3
"""Writes core/text/tokenizer/character_classes.cpp: the classes of characters that normalizers and pre-tokenizers of
`tokenizers` know. Its tables are those of Unicode 8 and 9, so no newer library has them.

  tokenizer_classes.py > core/text/tokenizer/character_classes.cpp

Development only. Made with tokenizers 0.23.3."""
from tokenizers import normalizers, pre_tokenizers

CHARACTERS = [c for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]


def ranges(found):
    out = []
    for code in found:
        if out and code == out[-1][1] + 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def removed_by(normalizer):
    return [c for c in CHARACTERS if normalizer.normalize_str("a" + chr(c) + "b") == "ab"]


def bert(**on):
    return normalizers.BertNormalizer(**{"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False, **on})


def main():
    cut = pre_tokenizers.Punctuation()
    tables = {"is_punctuation": [c for c in CHARACTERS if len(cut.pre_tokenize_str("a" + chr(c) + "a")) == 3],
              "is_control": [0] + removed_by(bert(clean_text=True)),
              "is_nonspacing_mark": removed_by(bert(strip_accents=True)),
              "is_mark": removed_by(normalizers.StripAccents())}
    print("// Written by tests/golden/tokenizer_classes.py.\n#include \"core/text/tokenizer/character_classes.h\"\n\n#include <algorithm>\n"
          "#include <iterator>\n#include <utility>\n\nnamespace triescope::tokenizer {\nnamespace {\n\nusing CodeRange = std::pair<char32_t, char32_t>;\n")
    for name, found in tables.items():
        inner = ", ".join(f"{{0x{a:X}, 0x{b:X}}}" for a, b in ranges(found))
        print(f"constexpr CodeRange k{name.title().replace('_', '')}[] = {{{inner}}};")
    print("\ntemplate <std::size_t size>\nbool in(const CodeRange (&ranges)[size], char32_t code) {\n"
          "  const CodeRange* const after =\n      std::upper_bound(std::begin(ranges), std::end(ranges), code,\n"
          "                       [](char32_t wanted, const CodeRange& range) { return wanted < range.first; });\n"
          "  return after != std::begin(ranges) && code <= (after - 1)->second;\n}\n\n}  // namespace\n")
    for name in tables:
        print(f"bool {name}(char32_t code) {{ return in(k{name.title().replace('_', '')}, code); }}")
    print("\n}  // namespace triescope::tokenizer")


if __name__ == "__main__":
    main()
