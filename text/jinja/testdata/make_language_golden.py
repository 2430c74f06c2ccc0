#!/usr/bin/env python3
"""Answers of jinja2 3.1.6, as Transformers sets it up, for templates that go through the language.

usage: make_language_golden.py > language.json
Needs transformers and jinja2. snippets.json has more; this list is about what differs between
implementations: kinds of errors, numbers, formats, corners of filters and of white space."""
import json, sys
from transformers.utils.chat_template_utils import _compile_jinja_template

VARS = {"s": "Hello World", "e": "", "n": None, "t": True, "i": 7, "f": 2.5, "big": 2 ** 70, "l": [3, 1, 2], "ls": ["b", "a", "C"],
        "d": {"z": 1, "a": [1, 2], "m": {"k": "v"}}, "m": [{"r": "user", "c": "x", "n": 1}, {"r": "Assistant", "c": "y", "n": 3}, {"r": "user", "c": None, "n": 2}],
        "html": "<a href='x'>&\"</a>", "u": "Köln 中😀ß", "ml": "a\n b\r\n\n  c", "nested": [[1, [2]], [3]], "nan": float("nan")}

EXPRESSIONS = r"""
1 + 2 * 3 ** 2 | 2 ** -1 | 2 ** 0.5 | -2 ** 2 | (-2) ** 3 | 7 // 2 | -7 // 2 | 7 // -2 | -7 % 3 | 7 % -3 | 7.5 // 2 | -7.5 % 2 | 7.5 % -2
1e22 | 1e21 | 123456789012345680.0 | 1e-4 | 0.00001 | 1.0 | -0.0 | 1e308 * 10 | 5 / 2 | 4 / 2 | big / 3 | big // 3 | big % 1000 | -big // 7 | -big % 7 | big * big | big == big + 0.0
1 == 1.0 | true + 1 | true == 1 | 'a' * 3 | 3 * 'a' | [1] * 2 | (1, 2) + (3,) | (1, 2) * 2 | 'a' + 'b' ~ 1 | 1 ~ 2 | n ~ t ~ f | not 1 | not not 'a' | +t | -t | +f
1 < 2 <= 2 != 3 | 1 < 2 > 3 | 'b' > 'a' | [1, 2] < [1, 3] | (1, 2) == (1, 2) | [1] == (1,) | {'a': 1} == {'a': 1.0} | n == false | e == false | 0 == false
1 < 'a' | n < 1 | {} < {} | 'a' in 'abc' | 1 in 'abc' | n in [n] | 'a' in d | 'k' in d.m | 2 in (1, 2) | 3 in range(5) | 1 in n | 'a' not in ls | x in l | 'a' in x
s[0] | s[-1] | s[100] | s[1:3] | s[::2] | s[::-2] | s[5:1:-1] | s[-100:100] | s[:-3] | u[1] | u[5:] | u[::-1] | l[::-1] | l[5:] | l[-2:] | (1, 2, 3)[1:] | range(10)[2:8:2] | range(10)[3] | s['a'] | s[1.0] | l[t] | l['0'] | l[n]
s[::0] | d['z'] | d['y'] | d.y.z | d.m['k'] | d[1] | d[[1]] | m[0].r | m[-1]['c'] | m[0].items | nested[0][1][0] | l.0 | l.1 + 1 | m.0.r | d.get('m').k | d.get('x', 3) | d.get('x').y
[1, 'a', none, true, 2.0, (1,), {}] | ('a', 'b') | {'a': [1, {'b': none}]} | ['\'', '"', '\'"', '\\', '\n\t\r\x00\x7f', 'é', '\u200b', '\xa0'] | {1: 2, none: 3, 'a': 4, 2.5: 1, true: 9} | {1: 'a', 1.0: 'b', true: 'c'} | {(1, 2): 3}[(1, 2)]
range(3)|list | range(5, 0, -2)|list | range(0) | range(3)|length | range(100001) | range(1, 2, 0) | range('a') | range(3) == range(0, 3) | dict(a=1, **{'b': 2}) | dict({'a': 1}, b=2) | dict([('a', 1)]) | dict([1])
namespace(a=1) | namespace() | joiner('|')() | cycler(1, 2).current | cycler() | self | loop | caller | varargs
x | x.y | x[0] | x + 1 | x | -x | x() | x < 1 | x == y | x == none | x is defined | x|default(5) | x|default | n|default(5) | n|default(5, true) | e|d('q', boolean=true) | x in [1] | [x] | x ~ 'a' | x|list | x|length | x|upper | x|int | x|join(',') | x|tojson | x|items|list | x|sort | x|first | not x | x and 1 | x or 1 | x if x else 'no' | 'a' if x
1 if 0 else 2 if 0 else 3 | (1 if 0) | (1 if 0) is defined | 1 if 1 if 0 else 0 else 5
s.upper().lower() | s.title() | 'they\'re bill\'s'.title() | u.upper() | u.lower() | u.swapcase() | u.casefold() | 'ΑΣ ΑΣΑ'.lower() | 'ǆ'.title() | 'ﬁ'.upper() | 'ﬁx'.capitalize() | 'ÀB'.capitalize() | 'aB1'.swapcase()
s.split('o') | s.split('o', 1) | s.rsplit('o', 1) | s.split() | ' a  b '.split() | ' a  b c '.split(none, 1) | ' a  b c '.rsplit(none, 1) | s.split('') | s.split(maxsplit=1) | 'a,b,,c'.split(',') | ''.split() | ''.split(',') | 'abc'.split('abc') | u.split('中')
'a\nb\r\nc\rd\x0be\x1cf\u2028g'.splitlines() | 'a\n\nb\n'.splitlines() | 'a\nb'.splitlines(true) | ''.splitlines() | '\n'.splitlines()
s.partition('o') | s.rpartition('o') | s.partition('x') | s.rpartition('x') | s.partition('') | s.find('o') | s.rfind('o') | s.find('z') | s.index('z') | s.find('o', 5) | s.find('o', 5, 6) | s.count('l') | s.count('') | u.find('中') | u.count('') | s.rindex('l')
s.startswith('He') | s.startswith(('x', 'He')) | s.startswith('W', 6) | s.endswith('ld') | s.endswith('lo', 0, 5) | s.startswith(1) | s.replace('l', 'L') | s.replace('l', 'L', 1) | s.replace('', '-') | s.replace('', '-', 3) | ''.replace('', 'x') | u.replace('', '.') | s.replace('l', 1) | s.replace('o', '', -1)
s.strip('Hd') | '  x '.strip() | '\u3000x\xa0'.strip() | 'xxabxx'.lstrip('x') | 'xxabxx'.rstrip('bx') | s.strip(1) | s.removeprefix('He') | s.removesuffix('x') | s.center(15, '*') | s.center(16, '*') | 'ab'.center(5, '.') | 'abc'.center(6, '.') | s.ljust(13, '-') + '|' | s.rjust(13) | s.zfill(13) | '-5'.zfill(4) | '+a'.zfill(5) | s.center(15, 'ab') | 'a\tb'.expandtabs() | 'a\tb\n\tc'.expandtabs(4)
'abc'.isalpha() | 'é中'.isalpha() | '12'.isdigit() | '²'.isdigit() | '²'.isdecimal() | '½'.isdigit() | ''.isalpha() | 'a1'.isalnum() | ' \t'.isspace() | 'Ab'.istitle() | 'A B'.istitle() | 'AB'.isupper() | 'a1'.islower() | '1'.islower() | 'é'.isascii() | 'a\n'.isprintable() | ''.isprintable() | '-'.join('abc') | '-'.join([1]) | '-'.join(d) | ','.join([])
'{} {}'.format(1, 'a') | '{1} {0}'.format(1, 2) | '{a.k} {b[0]}'.format(a=d.m, b=l) | '{:>5}|{:<5}|{:^5}'.format('a', 'b', 'c') | '{:*^7}'.format('é') | '{:05d}'.format(42) | '{:+d} {: d} {:d}'.format(1, 2, -3) | '{:x} {:X} {:o} {:b} {:#x} {:#b}'.format(255, 255, 8, 5, 255, 5) | '{:,} {:_}'.format(1234567, 1234567) | '{:.2f} {:8.3f} {:<8.1f}|'.format(3.14159, 2.5, 1) | '{:e} {:.0e} {:g} {:g} {:g}'.format(12345.678, 12345.678, 0.0001, 1e20, 100000) | '{:.1%}'.format(0.256) | '{!r} {!s}'.format('a', 'b') | '{{}} {}'.format(1) | '{}'.format(none) | '{}'.format([1, 'a']) | '{:d}'.format('a') | '{:>5}'.format(none) | '{} {1}'.format(1, 2) | '{'.format() | '}'.format() | '{2}'.format(1) | '{a}'.format(b=1) | '{:{}}'.format('a', 4) ~ '|' | '{:.2}'.format('abc') | '{:5}'.format(true) | '{:d}'.format(true) | '{}'.format(true) | '{:c}'.format(65) | '{:08.3f}'.format(-3.14159) | '{:=+8d}'.format(5) | '{:>+8.2f}'.format(2.5) | '{:n}'.format(5) if 0 else 1 | '{0.__class__}'.format(1) | '{:,.2f}'.format(1234567.891) | '{:f}'.format(1e400 if 0 else 2)
'%s %r %d' % ('a', 'b', 3) | '%5s|%-5s|' % ('a', 'b') | '%05d %+d % d' % (42, 1, 2) | '%x %X %o %#x' % (255, 255, 8, 255) | '%.2f %8.3f %-8.1f|' % (3.14159, 2.5, 1) | '%e %g %g' % (12345.678, 0.0001, 1e20) | '%(a)s-%(b)d' % {'a': 1, 'b': 2} | '%%' % () | '%s' % n | '%s' % [1] | '%d' % 3.7 | '%d' % 'a' | '%s %s' % 'a' | '%s' % ('a', 'b') | '%(a)s' % {} | '%c%c' % (65, 'b') | '%.2s' % 'abc' | '%i' % 5 | '%*d' % (5, 3) | '%q' % 1 | 'abc' % 1 | 'abc' % () | 'abc' % {} | '%s' % d | '%s' % (d,) | '%5.1f%%' % 12.34 | '%f' % 5 | '%s' % x | '%d' % x
d.keys() | d.values()|list | d.items()|list | d.keys()|length | 'z' in d.keys() | 1 in d.values() | d.copy() == d | d.fromkeys(['a']) | d.pop('z') | d.clear | d.update | d.setdefault('a', 1) | l.append(1) | l.sort() | l.insert | l.index(1) | l.index(9) | l.count(3) | (1, 2).index(2) | l.copy() | l.nope | l.__len__ | s.__class__ | s._x | d._x | m[0].__class__
l|sort | l|sort(reverse=true) | l|sort(true) | ls|sort | ls|sort(case_sensitive=true) | m|sort(attribute='n')|map(attribute='n')|list | m|sort(attribute='r,n')|map(attribute='n')|list | [1, 'a']|sort | [[2], [1]]|sort | ['b', 'A', 'a', 'B']|sort | ['b', 'A', 'a', 'B']|sort(reverse=true) | s|sort|join | n|sort | d|sort | m|sort(attribute='q')|length
l|min | l|max | ls|min | ls|max | []|min | m|min(attribute='n') | m|max(attribute='n') | ['a', 'B']|max | ['B', 'a']|min(case_sensitive=true) | [1, 'a']|max | l|sum | m|sum(attribute='n') | l|sum(start=10) | [[1], [2]]|sum(start=[]) | ls|sum | []|sum | [1.5, 2]|sum
['a', 'A', 'b']|unique|list | ['a', 'A', 'b']|unique(true)|list | m|unique(attribute='r')|map(attribute='n')|list | [[1], [1]]|unique|list | [1, 1.0, true]|unique|list | m|groupby('r')|list | m|groupby('r')|map(attribute='grouper')|list | m|groupby('r', case_sensitive=true)|map('first')|list | m|groupby('q', default='w')|length | (m|groupby('r'))[0].list|length
l|batch(2)|list | l|batch(2, 0)|list | l|batch(4, 'x')|list | [1,2,3,4,5,6,7]|slice(3)|list | [1,2,3,4,5,6,7]|slice(3, 'x')|list | [1,2]|slice(2, 'x')|list | l|slice(0) | l|batch(2) is iterable
m|map(attribute='r')|join(',') | m|map(attribute='r', default='q')|list | m|map(attribute='q', default='w')|list | m|map(attribute='q')|list|length | ls|map('upper')|list | ls|map('replace', 'a', 'b')|list | ls|map('nope')|list | m|map()|list | m|map('attr', 'r')|list|length | ls|map(attribute=0)|list | [1, 2]|map('string')|list | nested|map('length')|list | nested|map(attribute='0')|list | m|map(attribute='c.x')|list|length
l|select|list | [0, 1, '', 'a']|select|list | l|select('odd')|list | l|select('gt', 1)|list | l|reject('==', 1)|list | l|select('nope')|list | m|selectattr('c')|list|length | m|selectattr('n', 'gt', 1)|map(attribute='n')|list | m|selectattr('r', 'in', ['user'])|list|length | m|rejectattr('c')|list|length | m|selectattr('q', 'defined')|list | m|selectattr()|list | m|selectattr('q', 'undefined')|list|length | n|select|list | 5|select|list | 'abc'|select('in', 'ab')|join
s|first | s|last | []|first | {}|first | d|first | d|last | l|last | l|map('string')|last | n|first | 5|first | s|reverse | l|reverse|list | l|reverse | l|reverse|length | d|reverse|list | n|reverse | s|list | d|list | n|list | 5|list | (1, 2)|list | nested|first|last
s|length | u|length | d|length | n|length | 5|length | (1, 2)|count | l|map('string')|length | range(5)|length
3.7|int | '3.7'|int | 'a'|int | 'a'|int(9) | n|int | t|int | '0x1f'|int(base=16) | '1f'|int(base=16) | '0b11'|int(0, 0) | ' 12 '|int | '1_000'|int | '١٢'|int if 0 else 1 | '1e3'|int | 'nan'|int(5) | '-5'|int | [1]|int | 1e30|int | '3.7'|float | 'a'|float | 'a'|float(1.5) | n|float | 'inf'|float | '1e3'|float | ' 2 '|float | t|float | 5|float | '1_0.5'|float
2.5|round | 3.5|round | -2.5|round | 2.675|round(2) | 1234.5678|round(-2) | 1234|round(-2) | 1250|round(-2) | 7|round | 2.1|round(method='ceil') | 2.9|round(method='floor') | 2.123|round(2, 'ceil') | 2.5|round(0, 'x') | 'a'|round | n|round | t|round | 42.55|round(1) | 1e300|round(2)
-3|abs | (-3.5)|abs | 'a'|abs | t|abs | 0|filesizeformat | 1|filesizeformat | 1500|filesizeformat | 1500000|filesizeformat | 1024|filesizeformat(true) | 10**26|filesizeformat | '2000'|filesizeformat
ml|indent | ml|indent(2) | ml|indent(2, true) | ml|indent(2, first=true, blank=true) | ml|indent('>') | ''|indent | 'a'|indent | 'a\n'|indent | n|indent | 5|indent | s|indent(-1)
s|truncate(5) | s|truncate(5, true) | s|truncate(9, end='~') | s|truncate(8, leeway=0) | s|truncate(8, true, '', 0) | s|truncate(2) | 'a b c d e f g h i j k'|truncate(10) | n|truncate(5) | s|wordwrap(5) | 'a bb ccc dddd eeeeee'|wordwrap(4) | 'abcdefghij'|wordwrap(3) | 'abcdefghij kl'|wordwrap(4, false) | 'a b\nc d e'|wordwrap(3, wrapstring='|') | s|wordcount | 'a_b c-d é'|wordcount | ''|wordcount
s|title | 'a-b (c) [d] {e} <f> g.h'|title | 'ßa éb'|title | s|capitalize | 'ÉA'|capitalize | 5|upper | n|lower | t|title | l|upper | s|center(15) | s|center | 5|center(3)
s|replace('l', 'L') | s|replace('l', 'L', 1) | 5|replace('5', 'x') | s|replace('o', 5) | n|replace('N', 'M') | s|trim('Hd') | '  x '|trim | 5|trim | n|trim | l|trim | x|trim
l|join | l|join(', ') | m|join(',', attribute='r') | n|join | 5|join | s|join('-') | [1, none, 'a']|join(',') | d|join(',') | []|join | l|join(1) | nested|join(',')
html|e | html|escape|escape | html|e|forceescape | html|safe | html|safe|e | html|safe ~ '<' | html|e + '<' | '<' + html|e | (html|e)|upper | (html|e)|replace('&', '<') | '<%s>' % (html|e) | ('<%s>'|safe) % '<' | ('{}<'|safe).format('<') | ('<'|safe).join(['<', 'a']) | ['<', 'a'|safe]|join('<') | html|striptags | 'a <!-- x --> b  <b>c</b> &amp; d'|striptags | html|urlencode | 'a b/c?d=é'|urlencode | {'a b': 'c&d', 'e': 1}|urlencode | [('a', 'b')]|urlencode | 5|urlencode | {'a': 1, 'b': none, 'c': '<'}|xmlattr | {'a b': 1}|xmlattr | html|e is escaped | html is escaped | 5|e | n|e
d|tojson | d|tojson(indent=2) | d|tojson(2) | d|tojson(false, 2) | d|tojson(indent='\t') | d|tojson(indent=0) | d|tojson(true) | u|tojson | u|tojson(true) | '\x00\x1f\x7f"\\/\u2028'|tojson | {1: 2, none: 3, true: 4, 2.5: 5}|tojson | {(1,): 2}|tojson | (1, 2)|tojson | range(2)|tojson | l|map('string')|tojson | x|tojson | d.items()|tojson | namespace()|tojson | {'b': 1, 'a': 2}|tojson(sort_keys=true) | {1: 1, 'a': 2}|tojson(sort_keys=true) | d|tojson(separators=(',', ':')) | d|tojson(separators=(',', ':'), indent=1) | []|tojson(indent=2) | [[], {}]|tojson(indent=2) | html|safe|tojson | big|tojson | 1.0|tojson | 1e-7|tojson
d|dictsort | d|dictsort(reverse=true) | {'b': 1, 'A': 2}|dictsort | {'b': 1, 'A': 2}|dictsort(true) | {'b': 2, 'a': 1}|dictsort(by='value') | {'b': 1}|dictsort(by='x') | {1: 1, 'a': 2}|dictsort | l|dictsort | n|dictsort | d|items|list | l|items|list | n|items|list | d|items|length
s|attr('upper') is callable | s|attr('nope') is defined | d|attr('z') is defined | d|attr('keys') is callable | s|attr('__class__') is defined | m[0]|attr('r')
5 is number | 5.0 is number | t is number | t is integer | t is boolean | 5 is boolean | big is integer | 5 is float | 's' is string | html|safe is string | n is none | x is none | d is mapping | l is mapping | l is sequence | s is sequence | d is sequence | 5 is sequence | range(2) is sequence | l|map('string') is sequence | n is sequence | x is sequence | x is iterable | 5 is iterable | range is callable | s.upper is callable | 5 is callable | 'upper' is filter | 'nope' is filter | 'odd' is test | 5 is odd | 4 is even | 'a' is odd | 2.5 is odd | 6 is divisibleby 3 | 6 is divisibleby(4) | 6 is divisibleby 0 | 5 is sameas 5 | l is sameas l | [1] is sameas [1] | n is sameas n | 1 is sameas true | 'a' is lower | 'A' is upper | 5 is lower | 'a' is in 'abc' | 1 is in [1] | 1 is not in [2] | 5 is eq 5 | 5 is ne 5 | 5 is lt 6 | 5 is ge 5 | 'a' is gt 1 | t is true | 1 is true | f is false | 0 is false | not n is none | n is not none and 1 | 1 is nope | x is defined is defined
range.x | raise_exception('a' ~ 1) | raise_exception() | strftime_now is callable | s() | l() | d.z() | n() | s.upper | s.nope | s.upper(1) | s.split(1) | s.format | d.get() | range() | dict(1) | f.nope | i.nope is defined
(1, 2)[0] | (1,) | () | (1) | [1, 2,] | {'a': 1,} | {'a': 1, 'a': 2} | 'a' 'b' "c" | "\x41\u0042\U00000043\103\n\q\
x" | "\é" | 0x1F | 0o17 | 0b11 | 1_000 | 1_0.5 | 1.5e3 | 1E2 | 00 | 1.e | 1__0 | 012 | .5 | "a
b"
"""

TEMPLATES = [
    "{% for x in l %}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last }}{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.index }}{{ x }}{{ loop.previtem }}{{ loop.nextitem }};{% else %}none{% endfor %}",
    "{% for x in l if x > 9 %}a{% else %}none{% endfor %}", "{% for a, b in d.items() %}{{ a }}{{ b }}{% endfor %}", "{% for a, b in l %}{{ a }}{% endfor %}",
    "{% for a, b, c in [(1, 2)] %}{{ a }}{% endfor %}", "{% for x in l %}{% set y = x %}{% endfor %}{{ y }}", "{% set y = 0 %}{% for x in l %}{{ y }}{% set y = x %}{{ y }};{% endfor %}{{ y }}",
    "{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}d{{ loop.depth }}{{ loop.depth0 }}{% endif %}{% endfor %}",
    "{% for x in l %}{{ loop(x) }}{% endfor %}", "{% for x in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}", "{% for x in l %}{{ loop.nope }}{{ loop.nope is defined }}{% endfor %}",
    "{% for x in 'ab' %}{% for y in 'cd' %}{{ loop.index }}{{ x }}{{ y }}{% endfor %}{{ loop.index }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% break %}{% else %}e{% endfor %}", "{% for x in 5 %}{% endfor %}", "{% for x in n %}{% endfor %}", "{% for x in d %}{{ x }}{% endfor %}", "{% for x in range(3) %}{{ x }}{% endfor %}",
    "{% break %}", "{% for loop in l %}{% endfor %}", "{% for true in l %}{% endfor %}", "{% for x.y in l %}{% endfor %}", "{% set x.y = 1 %}", "{% set 1 = 2 %}", "{% set x %}", "{% set s.y = 1 %}",
    "{% set ns = namespace(a=1, b=[]) %}{% set ns.a = ns.a + 1 %}{% set ns.c = 'x' %}{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ ns.q }}{{ ns }}", "{% set ns = namespace() %}{% set ns._a = 1 %}", "{% set ns = namespace(_a=1) %}",
    "{% set ns = namespace({'a': 1}) %}{{ ns.a }}{{ ns['a'] }}", "{% set a, b = (1, 2) %}{{ b }}{{ a }}", "{% set (a, b) = 1, 2 %}{{ a }}", "{% set a, b = 1 %}", "{% set a = 1, %}{{ a }}", "{% set x %}a{{ i }}{% endset %}{{ x ~ x }}{{ x is string }}",
    "{% set x | upper | replace('A', 'b') %}a{% endset %}{{ x }}", "{% set ns = namespace() %}{% set ns.x %}q{% endset %}{{ ns.x }}",
    "{% if n %}a{% elif e %}b{% elif t %}c{% else %}d{% endif %}", "{% if l and not n %}a{% endif %}", "{% if x.y %}{% endif %}", "{% if t %}{% set q = 1 %}{% endif %}{{ q }}", "{% if 1, %}a{% endif %}",
    "{% macro f(a, b=2, c=b) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ f(1) }};{{ f(1, 3) }};{{ f(c=1, a=2) }}", "{% macro f(a) %}{{ a }}{{ a is defined }}{% endmacro %}{{ f() }}", "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f(a) %}{% endmacro %}{{ f(b=2) }}", "{% macro f(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, x=4) }}", "{% macro f(a) %}{% endmacro %}{{ f(1, a=2) }}", "{% macro f(a=1, b) %}{% endmacro %}",
    "{% macro f(a) %}<{{ caller(a) }}>{% endmacro %}{% call(x) f(5) %}{{ x }}{{ s }}{% endcall %}", "{% macro f() %}{{ caller() }}{% endmacro %}{{ f() }}", "{% macro f() %}{% endmacro %}{% call f() %}{% endcall %}", "{% macro f() %}a{% endmacro %}{{ f.name }}{{ f.arguments }}{{ f.catch_kwargs }}{{ f.caller }}",
    "{% macro f(a, b) %}{% endmacro %}{{ f.arguments }}{{ f is callable }}", "{% set q = 1 %}{% macro f() %}{{ q }}{% set q = 2 %}{{ q }}{% endmacro %}{{ f() }}{{ q }}", "{% macro f() %}{{ q }}{% endmacro %}{% set q = 1 %}{{ f() }}", "{% for x in l %}{% macro f() %}{{ x }}{% endmacro %}{{ f() }}{% endfor %}",
    "{{ f() }}{% macro f() %}{% endmacro %}", "{% macro f() %}  a  {% endmacro %}[{{ f()|trim }}]", "{% macro f(x) %}{{ x|e }}{% endmacro %}{{ f('<') }}{{ f('<')|e }}", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(*[1]) }}{{ f(**{'a': 2}) }}{{ f(*5) }}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "{% macro f() %}{{ loop is defined }}{% endmacro %}{% for x in [1] %}{{ f() }}{% endfor %}",
    "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter replace('a', 'b')|upper %}aa{% endfilter %}", "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}", "{% with %}{% set z = 1 %}{{ z }}{% endwith %}{{ z }}", "{% set a = 5 %}{% with a = 1, b = a %}{{ b }}{% endwith %}",
    "{% block a %}x{{ s }}{% endblock %}{{ self.a() }}", "{% set q = 1 %}{% block a %}{{ q }}{% endblock %}", "{% for x in l %}{% block a %}{{ x }}{% endblock %}{% endfor %}", "{% for x in l %}{% block a scoped %}{{ x }}{% endblock %}{% endfor %}", "{{ self.q() }}", "{% block a %}{% endblock %}{% block a %}{% endblock %}", "{% block a %}{% endblock a %}", "{{ super() }}",
    "{% autoescape true %}{{ html }}{{ html|safe }}{{ html ~ (html|safe) }}{{ ['<', '>'|safe]|join('&') }}{% set x %}<{% endset %}{{ x }}{% endautoescape %}{{ html }}", "{% autoescape false %}{{ html }}{% endautoescape %}",
    "{% raw %}{{ a }}{% b %}{# c #}{% endraw %}", "a {%- raw -%} b {%- endraw -%} c", "{% raw %}\n a\n{% endraw %}\nb", "  {% raw %}a{% endraw %}  \n  {% if t %}b{% endif %}", "{% raw %}", "{# a #}b{#- c -#} d", "a\n{# b #}\nc", "  {#+ a #}\nb", "{# a", "{#-#}x",
    "a\n  {%- if t %}\n b\n {% endif -%}\n\n c", "{%+ if t +%}\n a{% endif %}", "  {{ i }}\n  {% set x = 1 %}\n  {{ x }}\n", "{{ i -}}\n\n a", "a \n {{- i }}", "{%if t%}a{%endif%}b", "{%- for x in l -%}\n {{ x }}\n{%- endfor -%}\n", "a{% if t %}\n\nb{% endif %}\n\n\n", "\ta\n\t{% if t %}\n\tb\n\t{% endif %}\n", "a\r\nb\rc\n\r\n", "{% if t %}\r\na{% endif %}", "\x0b{% if t %}a{% endif %}",
    "{{ '}}' }}{{ \"{%\" }}", "{{ {'a': {'b': 1}} }}", "{{ {'a':1}}}", "{{ '\\'' }}", "{% print i, s %}", "{{ i }", "{{ i %}", "{% if t }}", "{{ i ; s }}", "{{ a b }}", "{{ (1, 2 }}", "{{ [1, 2) }}", "{{ 1 +* 2 }}", "{{ not }}", "{{ . }}", "{{ a. }}", "{{ a.'b' }}", "{{ f(a=1, 2) }}", "{{ f(**a, *b) }}", "{{ f(a b) }}", "{{ a|}}", "{{ a|1 }}", "{{ a is }}", "{{ 1 if }}", "{% %}", "{% 1 %}", "{% else %}", "{% endfor %}", "{% for %}", "{% for x %}", "{% for x in %}{% endfor %}", "{% for x in l %}", "{% if %}{% endif %}", "{% set %}", "{% macro %}", "{% macro f %}", "{% call 5 %}{% endcall %}", "{% nope %}", "{{ é }}", "{{ $ }}", "{{ a ? b }}", "{{ `a` }}", "{{ a && b }}", "{{ 'a }}", "{{ \"\\x4\" }}", "{{ a := 1 }}",
    "{{ l|nope }}", "{% if n %}{{ l|nope }}{% endif %}a", "{% if t %}{{ l|nope }}{% endif %}a", "{{ (l|nope) if n else 'a' }}", "{% if n %}{{ l is nope }}{% endif %}a",
    "{% set g = l|map('string') %}{{ g|list }}{{ g|list }}", "{% set g = l|select %}{% for x in g %}{{ x }}{% endfor %}{% for x in g %}{{ x }}{% endfor %}", "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.current }}", "{% set j = joiner() %}{{ j() }}{{ j() }}{{ j() }}",
    "{% generation %}a{{ i }}{% endgeneration %}", "{%- generation -%} a {%- endgeneration -%}", "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}", "{% set loop = 1 %}{{ loop }}", "{% set range = 1 %}{{ range }}", "{% set _ = 1 %}{{ _ }}", "{% do 1 %}", "{% trans %}", "{% debug %}", "{{ _('a') }}", "{% set x = namespace %}{{ x(a=1).a }}",
]


def answer(source):
    try:
        return {"out": _compile_jinja_template(source).render(**json.loads(json.dumps(VARS)))}
    except Exception as e:
        return {"err": type(e).__name__ + ": " + str(e)[:120]}


def main():
    cells = []
    for line in EXPRESSIONS.strip().split("\n"):
        cells += line.split(" | ")
    sources = ["{{ " + c + " }}" for c in cells] + TEMPLATES
    vars_ = {k: v for k, v in VARS.items() if k != "nan"}
    VARS.clear()
    VARS.update(vars_)
    golden = {"vars": VARS, "snippets": [{"tmpl": s, **answer(s)} for s in sources]}
    for s in golden["snippets"]:
        if " at 0x" in s.get("out", ""):
            s["out"], s["address"] = "", True  # which is not the same each time
    json.dump(golden, sys.stdout, ensure_ascii=False, separators=(",", ":"))


main()
