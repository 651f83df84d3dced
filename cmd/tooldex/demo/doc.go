// Package demo holds the catalogue and the labelled requests that are compiled into the command.
//
// With them the command can search, describe and measure itself before any server is configured. There is one YAML file
// for each server, in the format of catalogue files, and one file of JSON lines for each group of requests, in the
// format of eval. The servers are made up, though their tools are like those of real ones: nothing runs behind them,
// and so none of them can be called.
//
// A few tools are disabled and a few deprecated, so that both can be seen. No tool is about horoscopes or plays music,
// and some requests ask for just that: a search over the catalogue has to say that nothing fits.
package demo
