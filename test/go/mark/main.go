// Command mark is a server of mark3labs/mcp-go, on stdio or behind HTTP on a port.
package main

import (
	"context"
	"log"
	"net"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var tools = map[string]func(mcp.CallToolRequest) (string, error){
	"echo": func(request mcp.CallToolRequest) (string, error) { return request.GetString("text", ""), nil },
	"broken": func(mcp.CallToolRequest) (string, error) {
		_, err := net.Dial("tcp", "127.0.0.1:1")
		return "", err
	},
	"read_file": func(request mcp.CallToolRequest) (string, error) {
		bytes, err := os.ReadFile(request.GetString("text", ""))
		return string(bytes), err
	},
	"die": func(mcp.CallToolRequest) (string, error) {
		os.Exit(3)
		return "", nil
	},
}

func main() {
	mcpServer := server.NewMCPServer("go-mark", "1", server.WithToolCapabilities(true))
	for name, run := range tools {
		tool := mcp.NewTool(name, mcp.WithString("text"), mcp.WithNumber("n"))
		mcpServer.AddTool(tool, func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := run(request)
			return mcp.NewToolResultText(text), err // An error is one of JSON-RPC.
		})
	}
	if len(os.Args) > 1 {
		log.Fatal(server.NewStreamableHTTPServer(mcpServer).Start("127.0.0.1:" + os.Args[1]))
	}
	if err := server.ServeStdio(mcpServer); err != nil {
		log.Fatal(err)
	}
}
