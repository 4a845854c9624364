"""Runs the server given as arguments with the official Python client and does what each line of stdin says. The first argument is
how the two shake hands: `auto` or `legacy`.

`["tools"]` lists the tools, `["call", name, arguments]` is one call, `["together", [[name, arguments], ...]]` several at once,
`["die"]` leaves without a word to the server. Each is answered with one line of JSON on stdout.
"""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"refused": str(error)}
    return {"error": bool(result.is_error), "texts": [block.text for block in result.content]}


async def act(client, step):
    match step:
        case ["tools"]:
            tools = (await client.list_tools()).tools
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        case ["call", name, arguments]:
            return await call(client, name, arguments)
        case ["together", calls]:
            return await asyncio.gather(*(call(client, *each) for each in calls))
        case ["die"]:
            os._exit(0)


async def main():
    server = StdioServerParameters(command=sys.argv[2], args=sys.argv[3:])
    async with Client(server, mode=sys.argv[1]) as client:
        for line in sys.stdin:
            print(json.dumps(await act(client, json.loads(line))), flush=True)


asyncio.run(main())
