package selection

// What the tests outside of the package look at.
var (
	Formats    = allFormats
	WriteTool  = writeTool
	VerifyTool = verifyTool
)

// WrittenTool is a tool in one format.
type WrittenTool = writtenTool
