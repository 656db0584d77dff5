/**
 * A client of the socket that shares no code with the service: Node with the `ws` package, which checks every frame that
 * it receives. Holds a short interview, loses its connection in the middle of a turn, and comes back.
 *
 * node client.mjs WS_ADDRESS TOKEN -> one line of JSON about what it saw.
 */

import WebSocket from "ws";

const [address, token] = process.argv.slice(2);
const seen = { seqs: [], resumed: [], problems: [], closes: [] };
const answer = JSON.stringify({ type: "answer", msg_id: "node-1", text: "We held p99 at 800 ms, and I measured it." });

class Talk {
  constructor(lastSeq) {
    this.messages = [];
    this.waiting = null;
    this.socket = new WebSocket(address, "interview.v1", { perMessageDeflate: true });
    this.socket.on("error", (error) => seen.problems.push(String(error)));
    this.socket.on("message", (data, binary) => {
      if (binary) seen.problems.push("a binary frame");
      this.messages.push(JSON.parse(data.toString()));
      this.waiting?.();
    });
    this.ended = new Promise((resolve) => this.socket.on("close", (code) => resolve(code)));
    this.open = new Promise((resolve) => this.socket.on("open", resolve)).then(() =>
      this.socket.send(JSON.stringify({ type: "hello", token, last_seq: lastSeq })),
    );
  }

  /** The next message that fits; all before it are passed over. */
  async next(fits) {
    for (;;) {
      while (this.messages.length) {
        const message = this.messages.shift();
        if (message.recorded || message.type === "question.done") this.seqs.push(message.seq);
        if (fits(message)) return message;
      }
      await new Promise((resolve) => (this.waiting = resolve));
    }
  }

  stage = (stage, turn) => this.next((m) => m.type === "status" && m.stage === stage && m.turn === turn);
}

const first = new Talk(0);
first.seqs = seen.seqs;
await first.open;
seen.subprotocol = first.socket.protocol;
seen.extensions = first.socket.extensions;
await first.stage("waiting", 1);
const pong = new Promise((resolve) => first.socket.on("pong", (data) => resolve(data.toString())));
first.socket.ping("beat"); // of the protocol, not ours
seen.pong = await pong;
first.socket.send('{"type": ', { fin: false }); // one message in three frames
first.socket.send('"pi', { fin: false });
first.socket.send('ng"}', { fin: true });
seen.fragmented = (await first.next((m) => m.type === "pong" || m.type === "error")).type;
first.socket.send(answer);
await first.next((m) => m.recorded?.event.type === "answer_given");
first.socket.terminate(); // no close frame: the line is dead

const second = new Talk(seen.seqs.at(-1));
second.seqs = seen.resumed;
await second.open;
second.socket.send(answer); // as if its receipt had been lost
await second.stage("waiting", 2);
second.socket.send(JSON.stringify({ type: "end" }));
seen.report = (await second.next((m) => m.type === "report.ready")).url;
await second.stage("ended", 2);

const third = new Talk(0); // takes over; the second is told
third.seqs = [];
await third.open;
await third.stage("ended", 2);
seen.all = third.seqs;
seen.closes.push(await second.ended);
third.socket.close(1000);
seen.closes.push(await third.ended);
console.log(JSON.stringify(seen));
