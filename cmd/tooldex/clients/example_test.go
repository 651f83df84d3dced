package clients_test

import (
	"fmt"

	"tooldex/cmd/tooldex/clients"
)

// A client's servers are taken out of its file, and one takes their place. What else is in the file stays.
func Example() {
	d := &clients.Document{
		File:   clients.File{Path: "mcp.json", Sections: [][]string{{"servers"}}},
		Text:   []byte("{\n  // mine\n  \"servers\": {\n    \"files\": {\"command\": \"files-mcp\"}\n  },\n  \"inputs\": []\n}\n"),
		Exists: true,
	}
	servers, err := d.Servers()
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := d.Replace(clients.Own{Name: "tooldex", Command: "tooldex", Args: []string{"serve"}}, servers)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// {
	//   // mine
	//   "servers": {
	//     "tooldex": {
	//       "command": "tooldex",
	//       "args": [
	//         "serve"
	//       ]
	//     }
	//   },
	//   "inputs": []
	// }
}
