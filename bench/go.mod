module github.com/cocoon-go/cocoon/bench

go 1.25.0

replace github.com/cocoon-go/cocoon => ../
