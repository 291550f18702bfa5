// Load texts from files beside the page, each a script that is added on demand. A page opened from a folder cannot
// use fetch(), and nothing is loaded from elsewhere.
"use strict";

const macroscope = (() => {
  const MOST_CHUNKS = 24; // kept in memory; a chunk has about a hundred texts
  const MOST_INDEXES = 4;
  const waiting = new Map(); // path -> {resolve, promise}
  const indexes = new Map(); // least recently used first
  const chunks = new Map();
  let started = null;

  function cached(cache, path, most) {
    if (cache.has(path)) {
      const promise = cache.get(path);
      cache.delete(path);
      cache.set(path, promise);
      return promise;
    }
    const promise = load(path);
    cache.set(path, promise);
    promise.catch(() => cache.delete(path));
    if (cache.size > most) cache.delete(cache.keys().next().value);
    return promise;
  }

  function load(path) {
    if (!waiting.has(path)) {
      const entry = {};
      entry.promise = new Promise((resolve, reject) => {
        entry.resolve = resolve;
        const script = document.createElement("script");
        script.src = path;
        script.onload = () => script.remove();
        script.onerror = () => {
          script.remove();
          waiting.delete(path);
          reject(new Error(`${path} is missing or cannot be read; copy the whole folder "reader"`));
        };
        document.head.append(script);
      });
      waiting.set(path, entry);
    }
    return waiting.get(path).promise;
  }

  function arrived(path, value) {
    const entry = waiting.get(path);
    waiting.delete(path);
    if (entry) entry.resolve(value);
  }

  const folder = (key) => `data/${key}`;
  return {
    // Called by the files.
    run: (value) => started(value),
    index: (key, value) => arrived(`${folder(key)}/index.js`, value),
    chunk: (key, number, value) => arrived(`${folder(key)}/${number}.js`, value),
    // Called by the page.
    onRun: (callback) => (started = callback),
    indexOf: (key) => cached(indexes, `${folder(key)}/index.js`, MOST_INDEXES),
    chunkOf: (key, number) => cached(chunks, `${folder(key)}/${number}.js`, MOST_CHUNKS),
  };
})();
