// Package service composes the parts of tooldex into what commands, transports and Go programs use.
//
// Open reads what is stored and makes it searchable. A View is the service as one caller sees it: those who use a
// profile, or may only read. Views.New builds the two chains that everything goes through, and nothing else in the
// program builds one:
//
//   - a search is counted, narrowed to what the view shows, marked where a call needs confirmation, traced, limited to
//     what the processors can do at once, and then answered by package search;
//   - a call is recorded, refused for tools that the view does not show, for disabled and held ones, refused if its
//     arguments do not fit the schema, confirmed by a person where that is required, counted, traced, and then made by
//     package gateway.
//
// Transports and commands receive a View and see neither chain.
//
// A Service and its Views are safe for concurrent use. Errors are of type *tool.Error, or config.UsageError for
// settings that cannot be used. Close the Views before the Service.
package service
