#!/usr/bin/env python3
"""Makes chat.golden.json: chat templates in the manner of well-known models, written for these tests, and
what jinja2 3.1.6 makes of them, set up as Hugging Face's apply_chat_template does it.
usage: make_chat_goldens.py > chat.golden.json"""
import json
import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

assert jinja2.__version__ == "3.1.6"

CHATML = """{%- for message in messages %}
    {%- if loop.first and message.role != 'system' %}
        {{- '<|im_start|>system\\nYou help.<|im_end|>\\n' }}
    {%- endif %}
    {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
LLAMA3 = """{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
STRICT = """{%- set ns = namespace(want='user') -%}
{{ bos_token }}
{%- for message in messages -%}
  {%- if message['role'] != ns.want -%}
    {{ raise_exception("Roles must alternate: wanted " ~ ns.want ~ ", got " ~ message['role']) }}
  {%- endif -%}
  {%- if message['role'] == 'user' -%}
    {{ '[INST] ' + message['content'] + ' [/INST]' }}
    {%- set ns.want = 'assistant' -%}
  {%- else -%}
    {{ ' ' + message['content'] + eos_token }}
    {%- set ns.want = 'user' -%}
  {%- endif -%}
{%- endfor -%}"""
LAYOUT = """{# a {% for %} in a comment, it's one #}
{% macro show(m) %}


  [{{ m.role|upper }}]
{% endmacro %}
{% for m in messages if m.content %}

	
    {{ loop.index }}/{{ loop.length }} {{ show(m) }}
    {{ "%} {% for x in y %}" }}
  {% for w in m.content.split(' ') -%}
     <{{ w }}>
  {%- endfor %}

  {% if loop.last %}last{% else %}more{% endif %}

{% endfor %}
{% raw %}{% for x in y %}{{ z }}{% endfor %}{% endraw %}
{%- for i in range(messages|length - 1, -1, -1) %} {{ i }}{% endfor %}

"""
TEMPLATES = {"chatml": CHATML, "llama3": LLAMA3, "strict": STRICT, "layout": LAYOUT, "layout, CRLF": LAYOUT.replace("\n", "\r\n")}
USER = {"role": "user", "content": "  Hello <b>\"world\"</b> & 'you' é中😀\n\nWhat is 2+2?  "}
ANSWER = {"role": "assistant", "content": "It is 4.\n"}
CONVERSATIONS = {
    "user": [USER],
    "system": [{"role": "system", "content": "\nBe brief & <kind>. "}, USER],
    "turns": [USER, ANSWER, {"role": "user", "content": "And 3+3?"}],
}


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
env.globals["raise_exception"] = raise_exception
cases = []
for name, template in TEMPLATES.items():
    for conversation, messages in CONVERSATIONS.items():
        case = {"name": f"{name}, {conversation}", "template": template, "messages": messages}
        try:
            case["out"] = env.from_string(template).render(messages=messages, add_generation_prompt=True, tools=None,
                                                           documents=None, bos_token="<s>", eos_token="</s>")
        except jinja2.exceptions.TemplateError as e:
            case["err"] = str(e)
        cases.append(case)
print(json.dumps(cases, ensure_ascii=False, indent=1))
