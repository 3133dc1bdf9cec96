module github.com/cocoon-go/cocoon

go 1.25.0
