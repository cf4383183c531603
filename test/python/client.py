"""A client of the Python SDK: `client.py SECONDS TOOL COUNT COMMAND ARGS…` calls a tool and prints what it reads, a line each."""
import asyncio
import json
import os
import sys
from datetime import timedelta
from importlib.metadata import version

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SECONDS, TOOL, COUNT, COMMAND, *ARGS = sys.argv[1:]
LIMIT = float(SECONDS) if version("mcp").startswith("2.") else timedelta(seconds=float(SECONDS))


async def read(session, tool, **given):
    try:
        result = await session.call_tool(tool, given, read_timeout_seconds=LIMIT)
        return result.content[0].text
    except Exception as error:  # The client's own timeout too.
        return f"{type(error).__name__}: {error}"


async def main():
    async with stdio_client(StdioServerParameters(command=COMMAND, args=ARGS, env=dict(os.environ))) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            await session.initialize()
            await session.list_tools()
            for n in range(int(COUNT)):
                given = {"n": n} if TOOL == "broken" else {"seconds": 600}
                print(json.dumps(await read(session, TOOL, **given)), flush=True)
            print(json.dumps(await read(session, "echo", text="works")), flush=True)


asyncio.run(main())
