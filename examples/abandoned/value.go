package main

// customer is one element of the value: customerSize bytes of JSON.
type customer struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Emails  []string `json:"emails"`
	Address *address `json:"address"`
	Balance float64  `json:"balance"`
}

type address struct {
	Street string `json:"street"`
	City   string `json:"city"`
}

const customerSize = 190

// makeValue returns a value of size MB of JSON. Its customers share data in memory; size is the
// length of the JSON.
func makeValue(size int) []customer {
	emails := []string{"ada@example.com", "lovelace@example.org"}
	home := &address{"12 St James's Square <rear building>", "London"}
	all := make([]customer, size*1_000_000/customerSize)
	for i := range all {
		all[i] = customer{ID: 1_000_000 + i, Name: "Ada Lovelace", Emails: emails, Address: home, Balance: 0.25}
	}
	return all
}
