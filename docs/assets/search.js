// The search adds a wildcard to every word, so that "a" would find each title with "AI" in it. Leave small
// words out of what it reads from the field; the field itself still shows them.
const SMALL = /\b(?:a|an|and|are|can|do|does|for|from|how|i|in|is|it|me|my|of|on|or|the|to|what|when|where|which|with)\s+/gi;
const field = document.querySelector("[data-md-component=search-query]");
const { get, set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");

Object.defineProperty(field, "value", {
  get() {
    return get.call(this).replace(SMALL, "");
  },
  set(text) {
    set.call(this, text);
  },
});
