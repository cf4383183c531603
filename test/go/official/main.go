// Command official is a server of the Go SDK, on stdio or behind HTTP on a port.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type input struct {
	Text string `json:"text,omitempty"`
	N    int    `json:"n,omitempty"`
}

type tool func(context.Context, *mcp.CallToolRequest, input) (string, error)

var tools = map[string]tool{
	"echo": func(_ context.Context, _ *mcp.CallToolRequest, in input) (string, error) { return in.Text, nil },
	"broken": func(context.Context, *mcp.CallToolRequest, input) (string, error) {
		_, err := net.Dial("tcp", "127.0.0.1:1")
		return "", err
	},
	"read_file": func(_ context.Context, _ *mcp.CallToolRequest, in input) (string, error) {
		bytes, err := os.ReadFile(in.Text)
		return string(bytes), err
	},
	"die": func(context.Context, *mcp.CallToolRequest, input) (string, error) { panic("die") },
	"ask": func(ctx context.Context, request *mcp.CallToolRequest, _ input) (string, error) {
		roots, err := request.Session.ListRoots(ctx, nil)
		if err != nil {
			return "", err
		}
		sample, err := request.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1})
		if err != nil {
			return "", err
		}
		answer, err := request.Session.Elicit(ctx, &mcp.ElicitParams{Message: "?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d root, %s, %s", len(roots.Roots), sample.Content.(*mcp.TextContent).Text, answer.Action), nil
	},
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-official", Version: "1"}, nil)
	for name, run := range tools {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(ctx context.Context, request *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
			text, err := run(ctx, request, in)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
		})
	}
	if len(os.Args) > 1 {
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
		log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], handler))
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
