#!/usr/bin/env python3
"""Makes layout.golden.json: chat templates in the manner of well-known models, written for these tests, and what
Transformers 5.23.0 makes of conversations that are laid out otherwise than usual: with content in parts, with a last
message to continue, with variables of the caller's.
usage: make_layout_goldens.py > layout.golden.json"""
import json

import transformers
from transformers.utils.chat_template_utils import render_jinja_template

assert transformers.__version__ == "5.23.0"

TEXTS = """{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""
TRIMS = """{{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
"""
THINKS = """{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
        {{- '<|im_start|>assistant\\n' + content + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
    {%- if effort is defined %}{{- '[' + effort | upper + ' ' ~ more.budget ~ ' ' ~ more.stops | join('+') + ']' }}{%- endif %}
{%- endif %}
"""
EITHER = """{%- macro said(content) %}
    {%- if content is string %}{{- content | trim }}
    {%- else %}{%- for part in content %}{%- if part.type == 'text' %}{{- '(' + part['text'] + ')' }}{%- endif %}{%- endfor %}
    {%- endif %}
{%- endmacro %}
{%- for message in messages %}{{- '<' + message.role + '>' + said(message.content) + '\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}
"""
PARTS = """{%- for message in messages %}
    {{- message['role'] + ':' }}
    {%- for part in message['content'] %}{{- ' ' + part['text'] }}{%- endfor %}
    {{- '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- 'assistant:' }}{%- endif %}
"""
FORGETS = "{% for message in messages if message.role == 'user' %}{{ message.content }}|{% endfor %}"
TEMPLATES = {"texts": TEXTS, "trims": TRIMS, "thinks": THINKS, "either": EITHER, "parts": PARTS, "forgets": FORGETS}

USER = {"role": "user", "content": "Write  a poem. "}
CONVERSATIONS = {
    "a text": ([USER], {}),
    "parts": ([{"role": "system", "content": "Be brief."}, {"role": "user", "parts": ["Write  a ", " poem.\n"]}], {}),
    "one part": ([{"role": "user", "parts": ["Write  a poem. "]}], {}),
    "unopened": ([USER, {"role": "assistant", "content": "Roses"}], {"no_generation_prompt": True}),
    "continued": ([USER, {"role": "assistant", "content": "Roses are"}], {"continue": True}),
    "continued behind white space": ([USER, {"role": "assistant", "content": "\n Roses \n "}], {"continue": True}),
    "continued parts": ([USER, {"role": "assistant", "parts": ["Roses", " are "]}], {"continue": True}),
    "continued of a user": ([{"role": "user", "content": "Why do"}], {"continue": True}),
    "continued behind a thought": ([USER, {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nRoses"}], {"continue": True}),
    "a continued nothing": ([USER, {"role": "assistant", "content": ""}], {"continue": True}),
    "variables": ([USER], {"variables": {"enable_thinking": False, "unused": 1}}),
    "more variables": ([USER], {"variables": {"effort": "high", "more": {"budget": 12, "stops": ["a", "é"]}}}),
}


def given(message, template):
    """is a message as the template takes it: parts as OpenAI has them, or, joined as vLLM does it, a text."""
    message = dict(message)
    parts = message.pop("parts", None)
    if parts is None and template == "parts":
        parts = [message["content"]]
    if parts is not None:
        message["content"] = [{"type": "text", "text": p} for p in parts] if template in ("either", "parts") else "\n".join(parts)
    return message


cases = []
for template, source in TEMPLATES.items():
    for name, (messages, options) in CONVERSATIONS.items():
        case = {"name": f"{template}, {name}", "template": source, "messages": messages, "options": options}
        goes_on = options.get("continue", False)
        try:
            rendered, _ = render_jinja_template(
                [[given(m, template) for m in messages]], chat_template=source, continue_final_message=goes_on,
                add_generation_prompt=not goes_on and not options.get("no_generation_prompt", False), bos_token="<s>", eos_token="</s>",
                **options.get("variables", {}))
            case["out"] = rendered[0]
        except ValueError as e:
            assert "final message does not appear" in str(e), e
            case["unwritten"] = True
        cases.append(case)
print(json.dumps(cases, ensure_ascii=False, indent=1))
