module platforms

go 1.26
