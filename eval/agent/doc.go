// Package agent has a chat model choose and call tools, so that package eval scores what an agent does with them.
//
// An [Agent] is a tool.Searcher: for each request it selects tools as a program that embeds the service would, offers
// them to the model as functions, and answers with the tools that the model calls, in the order of the calls. No tool
// is really called: the arguments are only checked against the schema.
package agent
