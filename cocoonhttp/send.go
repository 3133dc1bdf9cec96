package cocoonhttp

// send passes on the held bytes, if there are any. Only the first send is sure not to block.
func (r *heldResponse) send() error {
	first := r.status != 0 && !r.sent
	if first {
		r.sent = true
		r.sendHeader()
	}
	switch {
	case len(r.held) == 0 || r.err != nil:
		return r.err
	case first:
		_, r.err = r.under.Write(r.held) // if this is the whole body, the server adds its length
	default:
		_, r.err = r.put(r.held)
	}
	r.passed += int64(len(r.held))
	r.held = r.held[:0]
	return r.err
}

// sendHeader passes on the header as it was when the handler decided on the response.
func (r *heldResponse) sendHeader() {
	if !r.asked {
		r.under.WriteHeader(r.status)
		return
	}
	h := r.under.Header()
	if r.header.of(h) {
		r.under.WriteHeader(r.status)
		return
	}
	var later copied
	later.take(h)
	r.header.restore(h)
	r.under.WriteHeader(r.status)
	later.restore(h)
}
