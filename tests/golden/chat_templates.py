#!/usr/bin/env python3
"""Makes chat_templates.json: what transformers' apply_chat_template makes of the templates in
chat_templates/ for a set of conversations, and what it makes of many small pieces of Jinja.

    python chat_templates.py [--out chat_templates.json]

Needs transformers and jinja2 (their versions go into the file). test_chat_template.cpp reads it.
"""

import argparse
import json
import pathlib

import jinja2
import transformers
from transformers.utils.chat_template_utils import render_jinja_template

HERE = pathlib.Path(__file__).resolve().parent


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def system(text):
    return {"role": "system", "content": text}


ODD = "  \t tabs, \"quotes\", 'single', \\n not a line, {{ bos_token }} {% if %} {# no #} <|im_end|> é 中文 👩‍👩‍👧 \u00a0\u200b\r\nCR LF  \n\n"

CONVERSATIONS = [
    [user("Hello")],
    [system("You are brief."), user("What is 2 + 2?")],
    [user("Hi"), assistant("Hello! How can I help?"), user("Tell me a story.")],
    [system("Be kind. /no_think"), user("One"), assistant("Two"), user("Three"), assistant("Four")],
    [user("Why?"), assistant("<think>\nwell\n</think>\n\nBecause."), user("And?"), assistant("<think>hm</think>So.")],
    [system(ODD), user(ODD), assistant(ODD), user(ODD)],
    [user("")],
    [system(""), user(" ")],
    [user("<tool_response>x</tool_response>"), assistant("a")],
    [assistant("I begin.")],
    [user("a"), user("b")],
    [user("a"), {"role": "tool", "content": "42"}, assistant("It is 42.")],
    [user("\u3000ideographic space\u3000"), assistant("\x1cfs\x85nel\u2028"), user("x")],
    [system("Only a system.")],
    [],
]

TEXTS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "date_string": "26 Jul 2024"}

# Each alone a template; rendered with the third conversation.
SNIPPETS = [
    # white space
    "a\n  {% if true %}\n  b\n  {% endif %}\nc\n",
    "a\n  {%+ if true %}\n  b\n  {%+ endif %}\nc\n\n",
    "a  {%- if true -%}  b  {%- endif -%}  c",
    "a\n{{ 'x' }}\nb", "a\n  {{- 'x' -}}  \n b", "{# c #}\nx {# d #}\ny\n  {# e #}\nz", "a {#- c -#} b",
    "x {% if true %}y{% endif %}\n\n\nz", "{% if true +%}\n  a\n{% endif +%}\nb", "  {% set a = 1 %}  {{ a }}",
    "\n\n{{ 1 }}\n\n", "{{ 1 }}\n", "\t{% if 1 %}\tx\t{% endif %}\t", "a\r\nb\r\n{{ 1 }}\r\n", "a\rb", "a\n{%- set x = 1 %}\nb",
    "{{ '}}' }}", "{{ '%}' }}{% set a = '%}' %}{{ a }}", "{{ {'a': {'b': 1}}['a']['b'] }}", "{{ {'a': 1} }}",
    "{% raw %}{{ x }} {% if %}{% endraw %}", "a {% raw %}\n x {% endraw %}\n b", "{{ \"{{\" }}", "{{ 'a' 'b' }}", "{ {a} }", "}} %} #}", "{{'{'}}",
    "{{ '\\u00e9\\x41\\t|\\\\|\\'|\\\"|\\n|\\q|\\0|' }}", "{{ '\\ud83d' | length }}", "{{ '\\U0001F600' }}", "{{ '\\101' }}", "{{ '\\a\\b\\f\\v' }}", "{{ 'a\\\nb' }}", "{{ 'é中' }}",
    "{{ '''a''' }}",
    # literals, arithmetic
    "{{ 1 + 2 * 3 - 4 }}", "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 4 / 2 }}", "{{ 2 ** 10 }}", "{{ 2 ** 3 ** 2 }}", "{{ -2 ** 2 }}", "{{ 2 ** -1 }}",
    "{{ 1.5 + 1 }} {{ 1.0 }} {{ 1e3 }} {{ 1e20 }} {{ 1.25e-7 }} {{ 0.1 + 0.2 }} {{ 1_000 }}", "{{ 0x1F }} {{ 0b11 }} {{ 0o17 }}",
    "{{ 'a' * 3 }} {{ 3 * 'a' }} {{ [1] * 2 }}", "{{ 'a' ~ 1 ~ none ~ true ~ 1.5 }}", "{{ 1 ~ 2 + 3 }}", "{{ 'a' + 'b' ~ 'c' }}", "{{ 10 - 2 - 3 }} {{ 2 - -1 }} {{ +3 }} {{ - 3 }}",
    "{{ true }} {{ false }} {{ none }} {{ True }} {{ False }} {{ None }}", "{{ true + 1 }}", "{{ 9007199254740993 + 0 }}", "{{ 3000000000 * 3000000000 }}", "{{ 99999999999999999999 }}",
    "{{ 'a' + 1 }}", "{{ none + 1 }}", "{{ 1 / 0 }}", "{{ 1 // 0 }}", "{{ 5 % 0 }}", "{{ '%s and %d' % ('x', 3) }}", "{{ [1, 2] + [3] }}", "{{ (1, 2) + (3,) }}",
    # comparisons, logic
    "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' == 'a' }} {{ 'a' != 1 }} {{ none == none }}",
    "{{ 'b' in 'abc' }} {{ 'd' not in 'abc' }} {{ 1 in [1, 2] }} {{ 'a' in {'a': 1} }} {{ '' in 'a' }} {{ 1 in (1, 2) }}", "{{ 'a' < 'b' }} {{ 'é' > 'z' }} {{ [1, 2] < [1, 3] }}",
    "{{ not true and false }} {{ not (true and false) }} {{ not not 1 }} {{ 1 or 0 and 0 }} {{ '' or 'x' }} {{ 0 and 'x' }} {{ [] or {} }}",
    "{{ not 1 == 2 }} {{ not 'a' in 'abc' }}", "{{ 1 < 'a' }}", "{{ none < 1 }}", "{{ 1 if true else 2 }} {{ 1 if false }}|{{ 1 if false else 2 if false else 3 }}", "{{ 'a' in none }}", "{{ 1 in 'a' }}",
    "{{ (1 if false) is defined }}", "{{ [1] == [1] }} {{ {'a': 1} == {'a': 1.0} }} {{ (1,) == [1] }}", "{{ 1 is 1 }}", "{{ 'x' if 0 else 'y' ~ 'z' }}",
    # undefined
    "[{{ nothing }}]", "{{ nothing.x }}", "[{{ messages[0].nothing }}]", "{{ messages[0].nothing.more }}", "{{ messages[9] }}|", "{{ messages[9].role }}", "{{ nothing + 'a' }}", "{{ nothing ~ 'a' }}", "{{ nothing == nothing2 }} {{ nothing == none }}",
    "{{ nothing is defined }} {{ nothing is undefined }} {{ messages is defined }} {{ nothing is none }} {{ nothing is not defined }}", "{{ nothing.x is defined }}", "{{ messages[0].a is defined }} {{ messages[0]['role'] is defined }}", "{{ nothing | length }}", "{{ nothing | default('d') }} {{ '' | default('d') }}|{{ '' | default('d', true) }} {{ none | default('d') }} {{ nothing | d }}|",
    "{% for x in nothing %}{{ x }}{% endfor %}|", "{{ nothing() }}", "{{ nothing in [1] }}", "{{ 'a' in nothing }}", "{{ nothing[0] }}", "{{ nothing | upper }}|{{ nothing | trim }}|", "{{ nothing | tojson }}", "{{ -nothing }}", "{{ nothing < 1 }}", "{{ nothing and 1 }}|{{ not nothing }}", "{{ none.x }}|", "{{ none.x.y }}", "{{ none[0] }}|", "{{ 1 .x }}|",
    "{{ nothing.x | default('d') }}", "{{ messages[0].nothing | default('d') }}", "{% if nothing %}a{% else %}b{% endif %}", "{{ nothing | list }}", "{{ nothing | join(',') }}|", "{{ nothing | first }}|",
    # sequences
    "{{ messages | length }} {{ messages[-1].role }} {{ messages[1:] | length }} {{ messages[:-1] | length }} {{ messages[::2] | length }}",
    "{{ 'abcdef'[1:3] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[-2:] }} {{ 'abc'[0] }} {{ 'abc'[-1] }} {{ 'abc'[5:] }}| {{ 'é中x'[1] }} {{ 'abcdef'[4:1:-1] }} {{ 'abcdef'[:100] }}", "{{ 'abc'[3] }}|", "{{ [1,2,3][5] }}|", "{{ 'abc'[::0] }}", "{{ [1, 2, 3][1:] }} {{ (1, 2, 3)[1:] }} {{ (1,) }} {{ () }} {{ [] }} {{ {} }}", "{{ (1, 2) }} {{ 1, 2 }}", "{{ ['a', \"it's\", 'q\"', 'both\\'\"', 'n\\n', '\\\\', 'é', none, true, 1.5] }}", "{{ {'a': 'b', 1: 2} }}", "{{ ['\\x00\\x1f\\x7f\\u200b'] }}",
    "{{ [3, 1, 2] | sort }} {{ ['b', 'A', 'c'] | sort }} {{ [1, 2] | sum }} {{ [1, 2, 3] | max }} {{ [1, 2] | min }}", "{{ [1, 1, 2] | unique | list }}", "{{ [1, 2, 3] | reverse | list }} {{ 'abc' | reverse }} {{ [1, 2] | first }} {{ [1, 2] | last }} {{ 'abc' | first }}", "{{ [1, 2, 3] | join }} {{ [1, 2, 3] | join(', ') }} {{ 'abc' | join('-') }} {{ messages | join(',', attribute='role') }}", "{{ [[1, 2], [3]] | map('first') | list }}", "{{ none | map('upper') | list }}{{ none | selectattr('x') | list }}{{ 0 | reject | list }}{{ false | select('odd') | list }}", "{{ messages | map(attribute='role') | list }} {{ messages | map(attribute='role') | join(' ') }}", "{{ ['a', 'b'] | map('upper') | list }} {{ [' a '] | map('trim') | list }}", "{{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | rejectattr('role', '==', 'user') | map(attribute='content') | list }} {{ messages | selectattr('nope') | list }} {{ messages | selectattr('role', 'in', ['user']) | list | length }} {{ messages | selectattr('role', 'defined') | list | length }}",
    "{{ [1, 2, 3, 4] | select('odd') | list }} {{ [0, 1, ''] | select | list }} {{ [1, 2, 3] | reject('even') | list }} {{ [1, 2, 3] | select('>', 1) | list }}", "{{ [1, 2, 3, 4, 5] | batch(2) | list }}", "{{ range(5) | list }} {{ range(1, 7, 2) | list }} {{ range(3, 0, -1) | list }} {{ range(0) | list }}", "{{ range(3) }}", "{{ [1, [2, 'x']] | string }} {{ 12 | string | length }}", "{{ {'b': 1, 'a': 2} | items | list }} {{ {'b': 1, 'a': 2} | dictsort }}", "{{ dict(a=1, b='x') }} {{ dict(a=1).a }}", "{{ {'a': 1}.items() | list }} {{ {'a': 1}.keys() | list }} {{ {'a': 1}.values() | list }} {{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b') }} {{ {'a': 1}.get('b', 3) }}", "{{ {'a': 1, 'a': 2} }}", "{{ {'items': 5}['items'] }} {{ {'role': 5}.role }}", "{{ {'a': 1} | length }} {{ {'a': 1} | list }}", "{{ [1, 2].index(2) }}", "{{ messages[0] | tojson }}", "{{ messages | tojson(indent=2) }}", "{{ [1].append(2) }}", "{{ {'a': 1}.update({'b': 2}) }}", "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in {'a': 1, 'b': 2} %}{{ k }}{% endfor %}", "{% for c in 'aé中' %}{{ c }},{% endfor %}", "{% for a, b in [[1, 2], [3, 4]] %}{{ a }}{{ b }}{% endfor %}", "{% for a, b in [[1, 2, 3]] %}{{ a }}{% endfor %}", "{% for x in 5 %}{{ x }}{% endfor %}", "{% for x in none %}{{ x }}{% endfor %}",
    # strings
    "{{ '  a b ' | trim }}|{{ '  a ' | trim('a ') }}|{{ 'xxaxx'.strip('x') }}|{{ '\\n a'.lstrip() }}|{{ 'a \\t'.rstrip() }}|{{ 'aéa'.strip('é') }}|{{ 'éaé'.strip('é') }}|", "{{ 'aBc' | upper }} {{ 'ABC' | lower }} {{ 'hello world' | title }} {{ 'hELLO wORLD' | capitalize }}", "{{ 'éß' | upper }} {{ 'ÀÉ'.lower() }} {{ 'élan vital' | title }} {{ 'élan' | capitalize }}", "{{ \"it's o'clock\" | title }} {{ \"it's\".title() }} {{ 'a-b_c 1d' | title }} {{ 'a-b_c 1d'.title() }}", "{{ 'a,b,c'.split(',') }} {{ 'a b  c '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ ''.split(',') }} {{ ''.split() }} {{ 'a b c'.split(none, 1) }} {{ 'a,b,c'.split(',')[-1] }}", "{{ 'a,b,c'.rsplit(',', 1) }} {{ 'a b'.rsplit() }}", "{{ 'a\\nb\\r\\nc\\n'.splitlines() }} {{ ''.splitlines() }} {{ 'a\\n\\nb'.splitlines() }}", "{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'bc')) }} {{ 'abc'.find('c') }} {{ 'abc'.find('z') }} {{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'.replace('X', '-', 1) }} {{ 'aXa' | replace('a', 'b') }} {{ 'aaa' | replace('a', 'b', 2) }} {{ 'abc'.replace('', '-') }}", "{{ 'abcabc'.count('bc') }} {{ 'abc'.index('b') }} {{ 'aa'.count('') }}", "{{ ', '.join(['a', 'b']) }} {{ '-'.join('abc') }}", "{{ ','.join([1, 2]) }}", "{{ '12'.isdigit() }} {{ 'a'.isalpha() }} {{ ' '.isspace() }} {{ 'A'.isupper() }} {{ 'a'.islower() }} {{ 'a1'.isalnum() }}", "{{ '12' | int }} {{ '1.9' | int }} {{ 'x' | int }} {{ 'x' | int(7) }} {{ 2.9 | int }} {{ '1.5' | float }} {{ 3 | float }} {{ -3 | abs }} {{ 2.567 | round(1) }} {{ 2.5 | round }}", "{{ 'abc' | length }} {{ 'é中' | length }} {{ 'abc' | count }} {{ 5 | length }}", "{{ 'a\\nb' | indent(2) }}|{{ 'a\\nb' | indent(2, true) }}|{{ 'a\\n\\nb' | indent }}", "{{ '<a>&\"' | e }} {{ '<a>' | escape }} {{ '<a>' | safe }}", "{{ 'a b c' | wordcount }} {{ 'abcdef' | truncate(3) }} {{ 'ab' | center(6) }}|", "{{ 'hello' | list }}", "{{ '%05.2f' | format(3.14159) }} {{ '{} {}'.format(1, 'x') }}", "{{ 'a' | upper | lower ~ 'X' }} {{ -1 | abs }} {{ 'x' | upper + 'y' }}", "{{ 'a'.upper().lower().strip() }}", "{{ 'ab'.nothing }}|", "{{ 'ab'.nothing() }}", "{{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }} {{ 'a=b=c'.partition('=') }}", "{{ 'x'.zfill(3) }} {{ 'a'.ljust(3) }}|{{ 'a'.rjust(3) }}", "{{ '\u3000 a\u00a0\u2003\x1c'.strip() }}|", "{{ 'a\u00a0b\u3000c\x1fd'.split() }}", "{{ 5 | upper }} {{ none | trim }} {{ [1] | trim }}",
    # tojson
    "{{ {'a': [1, 2.0, 'é\"\\n', none, true, {}], 'b': []} | tojson }}", "{{ '<a>&\\u2028\\x7f\\x01' | tojson }}", "{{ {'a': [1, {'b': 2}]} | tojson(indent=2) }}", "{{ [1, [2]] | tojson(indent=-3) }} {{ [1] | tojson(indent=0) }}", "{{ 1.5 | tojson }} {{ 1e100 | tojson }} {{ 'x' | tojson }} {{ none | tojson }}", "{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }} {{ [1, 2] | tojson(separators=(',', ':')) }} {{ 'é' | tojson(ensure_ascii=true) }}", "{{ [] | tojson(indent=4) }} {{ {1: 2} | tojson }} {{ (1, 2) | tojson }}",
    # tests
    "{{ 'a' is string }} {{ 1 is number }} {{ 1.5 is float }} {{ 1 is integer }} {{ true is boolean }} {{ true is integer }} {{ true is number }} {{ {} is mapping }} {{ [] is sequence }} {{ 'a' is iterable }} {{ 1 is iterable }} {{ none is none }} {{ 1 is not none }} {{ range is callable }} {{ {} is sequence }}", "{{ 3 is odd }} {{ 4 is even }} {{ 6 is divisibleby 3 }} {{ 6 is divisibleby(4) }} {{ 1 is eq 1 }} {{ 1 is equalto(2) }} {{ 2 is gt 1 }} {{ 2 is lt(1) }} {{ 'a' is in ['a'] }} {{ 'a' is in 'abc' }} {{ 'A' is upper }} {{ 'a' is lower }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ 1 is sameas 1 }}", "{{ nothing is string }} {{ nothing is mapping }} {{ nothing is iterable }} {{ nothing is sequence }} {{ nothing is number }}", "{{ 1 is nosuchtest }}", "{{ 'a' is not string }} {{ not 'a' is string }} {{ 1 is defined and 2 is defined }} {{ 'a' is string == true }}", "{{ (1, 2) is sequence }} {{ 5 is string or 'x' is string }}", "{{ 1 is ne 2 }} {{ 1 is != 2 }}", "{{ 'a' is filter }}", "{{ 'upper' is filter }}",
    # statements
    "{% set a = 1 %}{% for i in [1, 2] %}{% set a = a + i %}{{ a }} {% endfor %}{{ a }}", "{% set ns = namespace(x=1) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }} {{ ns.y }}|", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a = b = 1 %}", "{% set ns = {} %}{% set ns.x = 1 %}", "{% if true %}{% set q = 5 %}{% endif %}{{ q }}", "{% for i in range(5) %}{% if i == 3 %}{% break %}{% endif %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "{% for i in [] %}x{% else %}empty{% endfor %}", "{% for i in [1] %}x{% else %}empty{% endfor %}", "{% for i in [1, 2, 3] if i != 2 %}{{ loop.index }}:{{ i }}:{{ loop.last }} {% endfor %}", "{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }} {{ loop.cycle('a', 'b') }} {{ loop.depth }}{{ loop.depth0 }} {{ loop.changed(i // 2) }};{% endfor %}", "{% for i in [1, 2] %}{% for j in [1, 2] %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}", "{% for i in [1] %}{% endfor %}{{ i }}|{{ loop }}|", "{% for i in [1, 2, 3] if loop.index %}{% endfor %}", "{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}{{ loop(x) }}{% else %}{{ x }}{% endif %}{% endfor %}",
    "{% macro f(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ f(1) }} {{ f(1, 3) }} {{ f(b=5, a=4) }} {{ f() }}", "{% macro f(a) %}{{ a }}{{ caller() }}{% endmacro %}{% call f(1) %}body{% endcall %}", "{% set x = 1 %}{% macro f() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ f() }}", "{% for i in [1, 2] %}{% macro f() %}{{ i }}{% endmacro %}{{ f() }}{% endfor %}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, a=2) }}", "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "{% macro f(a) %} x {% endmacro %}{{ f(1) | trim | upper }}|{{ f(1) ~ f(2) }}|{{ f(1) is string }}", "{% set x %}a{{ 1 }}{% endset %}{{ x }} {{ x is string }}", "{% set x | upper %}abc{% endset %}{{ x }}", "{% filter upper %}abc{% endfilter %}", "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}|", "{% do [1] %}", "{% include 'x' %}", "{% import 'x' as y %}", "{% extends 'x' %}", "{% block a %}x{% endblock %}", "{% autoescape true %}{{ '<' }}{% endautoescape %}", "{% generation %} x {% endgeneration %}y", "{% for m in messages %}{% generation %}{{ m.role }}{% set q = m.role %}{% endgeneration %}{{ q }}{% endfor %}", "{% if 1 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 0 %}b{% elif 0 %}{% else %}c{% endif %}",
    "{{ raise_exception('no ' ~ 1) }}", "{% if false %}{{ raise_exception('no') }}{% endif %}ok", "{{ namespace(a=1).a }}", "{{ namespace({'a': 1}).a }}", "{{ self }}"[:0] + "ok", "{{ cycler('a', 'b').next() }}", "{{ joiner(', ')() }}|", "{{ lipsum }}"[:0] + "ok", "{% set loop_messages = messages[1:] if messages[0].role == 'x' else messages %}{{ loop_messages | length }}", "{% set messages = messages[1:] %}{{ messages | length }}", "{{ messages[0]['content'][0]['text'] }}|", "{{ messages[0].content[:2] }} {{ messages[0]['role'][0] }}", "{{ bos_token ~ eos_token }} {{ add_generation_prompt }} {{ tools }} {{ tools is none }} {{ documents is none }} {{ pad_token is defined }}", "{{ messages[0].update({'a': 1}) }}", "{{ messages[0].__class__ }}", "{{ ''.__class__.__mro__ }}", "{{ messages.0.role }} {{ messages[0].role.upper() }}", "{% set x = messages | first %}{{ x.role }} {{ (messages | last)['role'] }}", "{{ messages | length > 1 }} {{ messages | length - 1 }} {{ (messages | length) % 2 }}", "{{- 'a' -}}\n\n{{- 'b' }}", "{% set a = [] %}{% set a = a + [1] %}{% set a = a + [2] %}{{ a }}",
    # broken
    "{{ 1", "{% if 1 %}", "{% endif %}", "{% for %}", "{{ 1 + }}", "{{ (1 }}", "{{ 'a }}", "{% nosuch %}", "{{ a b }}", "{# open", "{{ [1, }}", "{{ 1 | nosuch }}", "{% if 1 %}{% endfor %}", "{{ }}", "{% %}", "{% set %}", "{% set 1 = 2 %}", "{{ a.1b }}", "{{ $ }}", "{{ a ! b }}", "{% break %}", "{% raw %}", "{% macro f( %}{% endmacro %}", "{{ {1 2} }}", "{% else %}", "{{ f(a=1, 2) }}", "{{ not }}", "{{ 1 if }}", "{% set true = 1 %}",
]


def render(template, conversation, generation, texts):
    try:
        rendered, _ = render_jinja_template(conversations=[conversation], chat_template=template, add_generation_prompt=generation, **texts)
        text = rendered[0]
        text.encode()  # half a surrogate pair is not text that could be given out
        return {"text": text}
    except Exception as error:  # whatever Python throws, ours must refuse as well
        return {"error": f"{type(error).__name__}: {error}"[:120]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "chat_templates.json")
    out = parser.parse_args().out
    templates = []
    for path in sorted((HERE / "chat_templates").glob("*.jinja")):
        text = path.read_bytes().decode()
        results = [[render(text, c, g, TEXTS) for g in (False, True)] for c in CONVERSATIONS]
        templates.append({"name": path.stem, "results": results})
    snippets = [{"source": s, **render(s, CONVERSATIONS[2], True, TEXTS)} for s in dict.fromkeys(SNIPPETS)]
    golden = {
        "versions": {"transformers": transformers.__version__, "jinja2": jinja2.__version__},
        "texts": TEXTS,
        "conversations": CONVERSATIONS,
        "templates": templates,
        "snippets": snippets,
    }
    out.write_text(json.dumps(golden, indent=1, ensure_ascii=True) + "\n")
    refused = sum("error" in s for s in snippets)
    print(f"{len(templates)} templates x {len(CONVERSATIONS)} conversations x 2, {len(snippets)} pieces ({refused} refused)")


if __name__ == "__main__":
    main()
