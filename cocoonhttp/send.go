package cocoonhttp

// send passes on the held bytes, if there are any. Only the first send is sure not to block.
func (a *answer) send() error {
	first := a.status != 0 && !a.sent
	if first {
		a.sent = true
		a.sendHeader()
	}
	switch {
	case len(a.held) == 0 || a.err != nil:
		return a.err
	case first:
		_, a.err = a.under.Write(a.held) // if this is the whole body, the server adds its length
	default:
		_, a.err = a.put(a.held)
	}
	a.passed += int64(len(a.held))
	a.held = a.held[:0]
	return a.err
}

// sendHeader passes on the header as it was when the handler decided on the response.
func (a *answer) sendHeader() {
	if !a.asked {
		a.under.WriteHeader(a.status)
		return
	}
	h := a.under.Header()
	if a.header.of(h) {
		a.under.WriteHeader(a.status)
		return
	}
	var later copied
	later.take(h)
	a.header.restore(h)
	a.under.WriteHeader(a.status)
	later.restore(h)
}
