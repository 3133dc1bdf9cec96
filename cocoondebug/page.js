// The page's content comes as HTML from the server, which has escaped it. Here it replaces the old
// content piece by piece, so that the focus, the selection and open details stay where they are.
"use strict";

const content = document.getElementById("content");
const connection = document.getElementById("connection");
const pause = document.getElementById("pause");
const news = document.getElementById("news");

let source = null; // of events; null while the page is hidden
let latest = "";
let toldAt = 0;
let told = "";

function keyOf(node) {
	return node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id : "";
}

// become makes a node like another one, or puts the other one into its place.
function become(node, like) {
	if (node.nodeType !== like.nodeType || node.nodeName !== like.nodeName || keyOf(node) !== keyOf(like)) {
		node.replaceWith(like);
		return;
	}
	if (node.nodeType !== Node.ELEMENT_NODE) {
		if (node.data !== like.data) node.data = like.data;
		return;
	}
	for (const { name } of [...node.attributes]) {
		if (!like.hasAttribute(name) && !(name === "open" && node.nodeName === "DETAILS")) node.removeAttribute(name);
	}
	for (const { name, value } of like.attributes) {
		if (node.getAttribute(name) !== value) node.setAttribute(name, value);
	}
	childrenBecome(node, like);
}

function childrenBecome(node, like) {
	const keyed = new Map();
	for (const child of node.childNodes) {
		if (keyOf(child)) keyed.set(keyOf(child), child);
	}
	let at = node.firstChild;
	for (const child of [...like.childNodes]) {
		const key = keyOf(child);
		let old = null; // the node that becomes like the child
		if (key) {
			old = keyed.get(key);
			keyed.delete(key);
		} else if (at && !keyOf(at)) {
			old = at;
		}
		if (!old) {
			node.insertBefore(child, at);
			continue;
		}
		if (old === at) at = at.nextSibling;
		else node.insertBefore(old, at);
		become(old, child);
	}
	while (at) {
		const next = at.nextSibling;
		at.remove();
		at = next;
	}
}

function show() {
	if (pause.getAttribute("aria-pressed") === "true" || !latest) return;
	const parsed = new DOMParser().parseFromString("<main>" + latest + "</main>", "text/html");
	childrenBecome(content, parsed.querySelector("main"));
	tell();
}

// tell tells screen readers of the newest throw or refusal, at most every ten seconds.
function tell() {
	const row = content.querySelector("#decisions tr.throw, #decisions tr.refusal");
	if (!row || row.dataset.key === told || Date.now() - toldAt < 10000) return;
	toldAt = Date.now();
	told = row.dataset.key;
	news.textContent = [1, 2, 3].map((i) => row.cells[i].textContent.trim()).join(", ") + ": " + row.cells[4].firstChild.textContent.trim();
}

function say(text) { connection.textContent = text; }

function open() {
	if (source || document.hidden) return;
	source = new EventSource("stream" + location.search);
	source.onopen = () => say("Live.");
	source.onmessage = (event) => { latest = event.data; show(); };
	source.addEventListener("end", (event) => {
		latest = event.data;
		show();
		close();
		say("The runtime has shut down.");
	});
	source.onerror = () => say(source && source.readyState === EventSource.CLOSED ? "The server refuses more viewers, or is gone. Load the page again." : "The server does not respond; trying again.");
}

function close() {
	if (source) source.close();
	source = null;
}

document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", open);

pause.hidden = false;
pause.addEventListener("click", () => {
	pause.setAttribute("aria-pressed", String(pause.getAttribute("aria-pressed") !== "true"));
	show();
});
open();
