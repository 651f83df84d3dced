package knowledge_test

import (
	"fmt"
	"strings"

	"tooldex/knowledge"
)

func ExampleTerms() {
	fmt.Println(knowledge.Terms("createIssue: creates the issues of a repository"))
	fmt.Println(knowledge.Terms("读取文件"))
	// Output:
	// [creat issu createissu creat issu repositori]
	// [读 取 读取 文 取文 件 文件]
}

func ExampleBase_Translate() {
	base, err := knowledge.Builtin()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(base.Translate("supprimer le fichier"), "file"))
	fmt.Printf("%q\n", base.Translate("delete the file"))
	// Output:
	// true
	// ""
}

func ExampleDescribeForms() {
	fmt.Println(knowledge.DescribeForms("compare https://example.com/a with ./notes.md"))
	// Output: compare url web page example.com with file md
}
