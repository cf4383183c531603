"""An MCP server in Python: `server.py sdk1|sdk2|fastmcp [PORT]`. Without a port it speaks stdio."""
import asyncio
import os
import sys

LINE, PORT = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None

if LINE == "sdk2":
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("python-test")
elif LINE == "fastmcp":
    from fastmcp import FastMCP

    server = FastMCP("python-test")
else:
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("python-test", port=PORT or 8000)


def told(error):
    """The error as the client hears of it. The second line of the SDK keeps the texts of all but its own errors to itself."""
    return ToolError(str(error)) if LINE == "sdk2" else error


@server.tool()
async def echo(text: str) -> str:
    return text


@server.tool()
async def broken(n: int) -> str:
    raise told(ConnectionRefusedError("[Errno 111] Connect call failed ('127.0.0.1', 5432)"))


@server.tool()
async def read_file(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        raise told(error)


@server.tool()
async def die() -> str:
    os._exit(9)


@server.tool()
async def slow(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "slept"


if PORT is None:
    server.run()
elif LINE == "fastmcp":
    server.run(transport="http", host="127.0.0.1", port=PORT)
elif LINE == "sdk2":
    server.run(transport="streamable-http", port=PORT)
else:
    server.run(transport="streamable-http")
