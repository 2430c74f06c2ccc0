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
HERMES = """{%- if tools %}
    {{- '<|im_start|>system\\nCall functions in <tool_call></tool_call>:\\n<tools>' }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == "tool" %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content }}
        {%- for tool_call in message.tool_calls or [] %}
            {%- set call = tool_call.function %}
            {{- '\\n<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
            {%- if call.arguments is string %}
                {{- call.arguments }}
            {%- else %}
                {{- call.arguments | tojson }}
            {%- endif %}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
LLAMA3_TOOLS = """{{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' }}
    {%- if loop.first and tools is not none %}
        {{- "Answer with {\\"name\\": function name, \\"parameters\\": dictionary}.\\n\\n" }}
        {%- for t in tools %}{{- t | tojson + "\\n\\n" }}{%- endfor %}
    {%- endif %}
    {%- if 'tool_calls' in message %}
        {%- set call = message.tool_calls[0].function %}
        {{- '{"name": "' + call.name + '", "parameters": ' + (call.arguments | tojson) + '}<|eot_id|>' }}
    {%- else %}
        {{- (message.content | trim) + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
"""
TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "What's the weather in <city>?", "parameters": {
        "type": "object", "properties": {"place": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 9.5}},
        "required": ["place"], "additionalProperties": False, "default": None}}},
    {"type": "function", "function": {"name": "z", "parameters": {}, "a": ["é", 12345678901, -0.25]}},
]
CALLS = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "weather", "arguments": '{"place": "Köln", "days": 2}'}]},
    {"role": "tool", "content": '{"rain": true}', "tool_call_id": "c1", "name": "weather"},
]
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


def as_transformers_does(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def in_the_shape_of_templates(message):
    calls = [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.loads(c["arguments"])}}
             for c in message.get("tool_calls", [])]
    return {**message, "tool_calls": calls} if calls else message


env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
env.globals["raise_exception"] = raise_exception
env.filters["tojson"] = as_transformers_does
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
for name, template in {"hermes": HERMES, "llama3 tools": LLAMA3_TOOLS}.items():
    for tools in None, TOOLS:
        case = {"name": f"{name}, {'with' if tools else 'without'} tools", "template": template, "messages": CALLS, "tools": tools}
        case["out"] = env.from_string(template).render(
            messages=[in_the_shape_of_templates(m) for m in CALLS], add_generation_prompt=True, tools=tools, documents=None,
            bos_token="<s>", eos_token="</s>")
        cases.append(case)
print(json.dumps(cases, ensure_ascii=False, indent=1))
