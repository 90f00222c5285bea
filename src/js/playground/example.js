// What the page shows at first.

export const EXAMPLE = {
  template: `{{- bos_token }}
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content | trim + '\\n\\n' }}
    {%- endif %}
    {{- 'You may call these tools:\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson + '\\n' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content | trim + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages if message.role != 'system' %}
    {{- '<|im_start|>' + message.role + '\\n' }}
    {%- if message.content %}
        {{- message.content }}
    {%- endif %}
    {%- for call in message.tool_calls or [] %}
        {{- '<tool_call>\\n' + {'name': call.function.name, 'arguments': call.function.arguments} | tojson + '\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
`,
  request: `[
  {"role": "system", "content": "Answer in one sentence.\\n"},
  {"role": "user", "content": "How warm is it in Bern?"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"type": "function", "function": {"name": "temperature", "arguments": {"place": "Bern"}}}
  ]},
  {"role": "tool", "content": "{\\"celsius\\": 7.0}"},
  {"role": "assistant", "content": "It is 7 °C in Bern."},
  {"role": "user", "content": "And in Rome?"}
]`,
  tools: `[
  {"type": "function", "function": {
    "name": "temperature",
    "parameters": {
      "type": "object",
      "properties": {"place": {"type": "string"}},
      "required": ["place"]
    }
  }}
]`,
  tokens: `{
  "bos_token": "<|begin|>",
  "eos_token": "<|im_end|>"
}`,
  answer: `<tool_call>
{"name": "temperature", "arguments": {"place": "Rome"}}
</tool_call>`,
  next: '[{"role": "tool", "content": "{\\"celsius\\": 16.0}"}]',
  generate: true,
};
