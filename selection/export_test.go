package selection

// What the tests outside of the package look at.
var (
	Formats    = formats
	WriteTool  = writeTool
	VerifyTool = verifyTool
)

// WrittenTool is a tool in one format.
type WrittenTool = writtenTool
