// Runs the sealing module outside a browser: jobs come in as JSON, replies go out as JSON.
//
//   {verify: policy, counts: [...]} -> what it found
//   {seal: policy, campaign, worker, answers: [[task, answer]...], tasks, random?} -> {submission, unread}
//
// With `random`, hexadecimal, the randomness is these bytes, in this order; without, it is the
// system's. `secure: false` and `lacks: "X25519"` make a worse browser of it. A job that is refused
// gives {refused: code, message}.

import { readFileSync } from "node:fs";

// A data: address is a module whatever the file's name and the folder around it.
const source = readFileSync(process.argv[2], "utf8");
const real = crypto.getRandomValues.bind(crypto);
const importKey = crypto.subtle.importKey.bind(crypto.subtle);

/** @param {Buffer} bytes */
function scripted(bytes) {
  let at = 0;
  crypto.getRandomValues = (array) => {
    if (array.byteLength > 65536) throw new Error("browsers give 65,536 bytes at once");
    if (at + array.length > bytes.length) throw new Error("more bytes are drawn than expected");
    array.set(bytes.subarray(at, (at += array.length)));
    return array;
  };
  return () => bytes.length - at;
}

async function done(job, { verifySealed, seal }) {
  globalThis.isSecureContext = job.secure ?? true;
  crypto.subtle.importKey = (format, key, algorithm, ...others) => {
    if ((algorithm.name ?? algorithm) === job.lacks) return Promise.reject(new DOMException("no", "NotSupportedError"));
    return importKey(format, key, algorithm, ...others);
  };
  const verified = await verifySealed(job.verify ?? job.seal);
  if ("verify" in job) {
    const { guarantee, ...found } = verified;
    return { ...found, guarantees: (job.counts ?? []).map(guarantee) };
  }
  crypto.getRandomValues = real;
  const unread = job.random === undefined ? () => 0 : scripted(Buffer.from(job.random, "hex"));
  const { submission } = await seal(verified, job.campaign, job.worker, new Map(job.answers), job.tasks);
  return { submission, unread: unread() };
}

const module = await import(`data:text/javascript,${encodeURIComponent(source)}`);
const replies = [];
for (const job of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    replies.push(await done(job, module));
  } catch (error) {
    if (!(error instanceof module.PolicyError)) throw error;
    replies.push({ refused: error.code, message: error.message });
  }
}
process.stdout.write(JSON.stringify(replies));
