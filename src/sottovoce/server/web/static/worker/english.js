// The page in English.

export const code = "en";
export const otherLanguage = "日本語";
export const noCookies = "No cookies, no trackers, nothing from other sites.";

// Before anybody agrees.
export const invited = "You are invited to answer";
/** @param {string} count @param {string} all @param {string} host */
export const howMany = (count, all, host) =>
  `${count === "1" ? "One question" : `${count} questions`}${count === all ? "" : ` of ${all}, picked for you by chance`}. Asked at ${host}.`;
export const whatHappens = "What happens to your answers";
export const changedHere = "Your device changes your answers by chance before anything is sent. ";
export const nobodySure = "So nobody, not even this server, can be sure what you chose.";
export const moreThan99 = "more than 99";
export const fewerThan1 = "fewer than 1";
/** @param {string} kept @param {string} others @param {boolean} orNothing */
export const oddsOfLabels = (kept, others, orNothing) =>
  `Of 100 people who would answer the same, ${kept} send it and ${others} send something else${orNothing ? ", or “nothing”" : ""}.`;
/** @param {string} kept @param {string} others @param {number} size */
export const oddsOfSets = (kept, others, size) =>
  `A set of ${size} possible answers is sent. Of 100 people who would answer the same, ${kept} send a set that has it and ${others} a set that does not.`;
/** @param {string} kept @param {string} others */
export const oddsOfPoints = (kept, others) =>
  `Of 100 people with the same answer in the middle of the range, ${kept} send a number within a tenth of the range of it and ${others} send one farther away.`;
/** @param {string} kept @param {string} others */
export const oddsOfSides = (kept, others) =>
  `Only the side is sent: whether your answer is below a value picked for you by chance. Of 100 people with the same answer, ${kept} send the true side and ${others} do not.`;
/** @param {string} kept @param {string} others */
export const oddsOfEnds = (kept, others) =>
  `Only “low end” or “high end” is sent. Of 100 people whose answer is at an end of the range, ${kept} send that end and ${others} the other.`;
/** What the two kinds of marks mean. @param {string} alphabet */
export const marks = (alphabet) =>
  alphabet === "points" ? ["near", "farther away"] : alphabet === "subsets" ? ["with the answer", "without it"] : ["true", "changed by chance"];
/** @param {string} sent @param {string} count */
export const sampledOnly = (sent, count) => `Only ${sent} of your ${count} answers are sent, picked by chance. The others stay here.`;
export const skippingHidden = "Skipping is private too: something is sent for every question, answered or not.";
/** @param {string} count @param {number} times */
export const together = (count, times) =>
  times > 1
    ? `All ${count} answers together can tell up to ${Math.round(times)} times as much about you as one.`
    : "All your answers together tell no more about you than one.";
export const hidesLittle = "This hides little. What you send can almost be taken at its word.";
export const sealedHere = "Your device seals your answers before anything is sent. This server cannot open them.";
/** @param {string} seats @param {string} names @param {string} minimum */
export const sealedSteps = (seats, names, minimum) => [
  `Your answers are cut into ${seats} parts. A part alone is nothing but random numbers.`,
  `Each part is locked for one keyholder: ${names}.`,
  `In the end the keyholders open one total over everybody, at least ${minimum} people, with noise in it. That total is all that anybody gets to see.`,
];
/** @param {string} needed @param {string} seats */
export const takesToRead = (needed, seats) => `To read your answers, ${needed} of the ${seats} keyholders would have to break their word together.`;
export const totalHides = "The noise hides you in the total: even somebody who knows what all the others answered cannot be sure what you chose.";
export const totalHidesLittle = "The noise is small. Somebody who knows what all the others answered could almost read your answer from the total.";
export const whoHoldsKeys = "Who the keyholders are";
export const fingerprintsFor = "Keyholders publish the fingerprints of their keys. Compare them to be sure for whom your answers are sealed:";
export const inNumbers = "In numbers";
export const forOneAnswer = "For one answer";
/** @param {string} count */
export const forAll = (count) => `For all your answers together (${count})`;
/** @param {string} epsilon */
export const epsilonPerAnswer = (epsilon) => `epsilon ${epsilon} per answer`;
/** @param {string} epsilon */
export const epsilonPerWorker = (epsilon) => `epsilon ${epsilon} per worker`;
/** @param {string} factor */
export const numbersExplained = (factor) =>
  `Exact, with delta 0, rounded up; your browser computed it from the policy. Smaller is more private. Whoever sees a report can change the odds of a guess about your answer by a factor of ${factor} at most.`;
/** @param {string} factor @param {string} colluders */
export const totalExplained = (factor, colluders) =>
  `Exact, with delta 0, rounded up; your browser computed it from the policy. Smaller is more private. Whoever sees the total can change the odds of a guess about your answer by a factor of ${factor} at most, even together with ${colluders === "1" ? "one keyholder" : `${colluders} keyholders`}.`;
export const policyIs = "The policy is pinned on this device. Should the campaign ever offer another, nothing is sent:";
export const whatIsStored = "What is stored, and who sees it";
/** @param {boolean} hidden */
export const storedLines = (hidden) => [
  "The server stores what is sent, the day it arrives, and a name made up for you in this campaign only.",
  `The requester sees the same${hidden ? "; not which questions you answered" : ", and so which questions you answered"}.`,
  "The server can see your network address. A link made for you alone tells who takes part; not what you answered.",
  "Your answers stay in this tab, and go when they have been sent or the tab is closed.",
  "You get a receipt. With it you can see what is stored, and delete it while the campaign is open.",
];
/** @param {boolean} hidden */
export const storedSealed = (hidden) => [
  "The server stores the sealed parts, the day they arrive, and a name made up for you in this campaign only.",
  `The requester sees that this name took part${hidden ? ", but not which questions you answered" : " and which questions it answered"}. What was answered it sees in the total only.`,
  "The server can see your network address. A link made for you alone tells who takes part; not what you answered.",
  "Your answers stay in this tab, and go when they have been sealed or the tab is closed.",
  "You get a receipt. With it you can take your sealed answers back until they have been counted.",
];
export const whatToTrust = "What you have to trust";
export const trustServer =
  "This device, and this page. The page comes from the very server it protects you from, and a dishonest server could alter it. You need not take its word:";
/** @param {string} needed */
export const trustKeyholders = (needed) => `The keyholders: as long as fewer than ${needed} of them work together, nobody can read your answers.`;
export const howToCheck = "How to check this page";
/** @param {string} file */
export const checkHash = (file) => `This is the SHA-256 of ${file}, the file that turns answers into what is sent, as your browser has it. Compare it with the one published with the release:`;
export const checkCommand = "Or let the released software compare every file:";
export const strongerOption = "The stronger way: answer in a terminal";
/** @param {string} extras */
export const inTerminal = (extras) => `Software that you installed yourself is not delivered by this server. It needs Python: pip install 'sottovoce[${extras}]'`;
export const onThisDevice = "Your budget on this device";
/** @param {number} before @param {number} now */
export const spentSoFar = (before, now) =>
  `${before ? `Earlier campaigns here have used ${before}%` : "Nothing has been used yet"} of what this device allows. This campaign takes up to ${now}%.`;
/** @param {string} before @param {string} now @param {string} most */
export const spentInNumbers = (before, now, most) => `epsilon per worker: ${before} used, up to ${now} for this campaign, limit ${most}`;
/** @param {string} count @param {string} wanted */
export const limitCovers = (count, wanted) => `Your limit covers ${count} of ${wanted} answers. You will be asked no more.`;
export const limitRefuses = "This campaign would go beyond your limit, so you cannot answer it. What is sent adds up: from many small hints a good guess can be made.";
export const raiseLimit = "Raise my limit";
export const raiseMeans = "A higher limit lets all campaigns here learn more about you. It cannot be lowered again.";
export const newLimit = "New limit (epsilon per worker)";
export const raiseNow = "Raise it";
export const noAccount = "No account is needed. Nothing is sent before you have seen the last page and pressed “Send”.";
export const agree = "I agree, start";
export const noThanks = "No thanks";

// Questions.
/** @param {string} place @param {string} count */
export const progress = (place, count) => `${place} of ${count}`;
export const progressBar = "Questions";
export const next = "Next";
export const back = "Back";
export const skip = "Skip";
export const skipPrivate = "Skipping is private: nobody can tell that you skipped.";
export const skipSeen = "A skipped question is left out. That it was left out can be seen.";
export const imageOf = "Image for this question";
/** @param {string} host */
export const openImage = (host) => `Open the image on ${host}: that site will see you`;
/** @param {string} low @param {string} high @param {string | null} unit @param {string | undefined} step */
export const range = (low, high, unit, step) => `a number from ${low} to ${high}${unit ? ` ${unit}` : ""}${step ? `, in steps of ${step}` : ""}`;
/** @param {string} range */
export const notInRange = (range) => `Type ${range}, with a point for fractions. Or skip.`;
export const chooseOne = "Choose one, or skip.";
export const findLabel = "Find an answer";
/** @param {string} count */
export const moreLabels = (count) => `${count} more: type some letters to find them.`;
export const noLabel = "No answer has these letters.";
export const lastLook = "A last look";
export const yourAnswers = "Your answers";
export const stillHere = "They are on your device, in this tab only. You can still change them.";
export const change = "Change";
export const drawnOnce = "Next, your device draws by chance what will be sent. It draws once. After that, answers cannot be changed.";
export const sealedOnce = "Next, your device seals your answers and forgets them. After that they cannot be changed, and no more can be answered later.";
export const nothingToSend = "You have skipped every question: there is nothing to send.";
export const drawAndGoOn = "Draw and continue";
export const sealAndGoOn = "Seal and continue";

// What leaves the device.
export const drawn = "Drawn on your device";
export const whatLeaves = "What leaves your device";
export const whatLeavesLead = "Only the right side is sent. Where it differs from your answer, that is the protection working.";
export const shownAfter = "Your reports are drawn and kept. In this campaign they are shown to you after sending, so that nobody holds back what chance has picked.";
export const sealedKicker = "Sealed on your device";
export const sealedLead = "Only sealed parts leave, each for one keyholder. Your answers are gone from this tab.";
/** @param {string} name */
export const sealedFor = (name) => `Sealed for ${name}`;
/** @param {string} bytes @param {string} name */
export const onlyOpenedBy = (bytes, name) => `${bytes} bytes that only ${name} can open: random numbers, one part of each answer`;
export const readableByServer = "Readable by the server";
/** @param {string} count @param {string} worker */
export const readable = (count, worker) => `which ${count === "1" ? "question" : `${count} questions`} it is about, and the name made up for you: ${worker}`;
export const sealedForGood = "Sealed: nobody, not even you, can read it back.";
export const youChose = "You chose";
export const staysHere = "stays here";
export const willBeSent = "Will be sent";
export const wasSent = "Was sent";
export const same = "same as your answer";
export const sideTrue = "true of your answer";
export const changed = "changed by chance";
export const differs = "Sent value differs from your answer: that is the protection working.";
export const notKnownHere = "known to you only";
export const skipped = "(skipped)";
export const nothing = "(nothing)";
export const notSent = "(not sent)";
export const notInSample = "not among those picked";
export const noisy = "with noise added";
export const beyond = "with noise added, which may lead beyond the range";
/** @param {boolean} high @param {string} value */
export const end = (high, value) => `${high ? "high" : "low"} end (${value})`;
export const endNote = "picked by chance; the nearer end is more likely";
/** @param {boolean} below @param {string} value */
export const side = (below, value) => (below ? `below ${value}` : `${value} or more`);
export const comma = ", ";
/** @param {boolean | null} has */
export const setNote = (has) => (has === null ? "one set" : has ? "a set that has your answer" : "a set without your answer, by chance");
/** @param {string} place */
export const offScale = (place) => `beyond the scale (place ${place})`;
/** @param {string} bytes */
export const exactly = (bytes) => `The exact ${bytes} bytes`;
export const exactHeaders = "This is the whole request. Your browser adds what it adds to every request, such as its name.";
export const theInvite = "Bearer (your invite)";
export const theReceipt = "(your receipt)";
export const noSecondDraw = "It cannot be drawn again: whoever draws until it looks right gives the answer away.";
export const send = "Send";
export const sendingKicker = "On its way";
export const sendingTitle = "Sending";
export const sendingNow = "Sending…";
/** @param {string} seconds */
export const waits = (seconds) => `No connection to the server. The next try is in ${seconds} seconds.`;
export const keptHere = "What is to be sent is kept on this device and is sent again exactly as it is. You may close this page and come back.";
export const tryNow = "Try now";

// Afterwards.
export const sentKicker = "Sent";
export const thanks = "Thank you";
/** @param {string} count */
export const serverHas = (count) => `The server has your ${count === "1" ? "report" : `${count} reports`}.`;
/** @param {string} count */
export const serverHasSealed = (count) => `The server has your sealed answers to ${count === "1" ? "one question" : `${count} questions`}. It cannot read them.`;
export const yourReceipt = "Your receipt";
export const receiptFor = "With this code, and only with it, you can see what is stored of you and delete it. This device remembers it; keep a copy if others use the device too.";
export const copy = "Copy";
export const copied = "Copied.";
export const notCopied = "The browser did not allow it: select the text and copy it.";
export const saveFile = "Save as a file";
/** @param {string} count */
export const moreQuestions = (count) => (count === "1" ? "One question is left" : `${count} questions are left`);
export const moreLater = "You may answer them now or later, or not at all.";
export const goOn = "Answer more";
export const done = "Done";
export const allDone = "All done";
export const mayClose = "Your answers are gone from this tab. You can close it.";
export const myData = "My data";
export const whatServerHas = "What the server has of you";
export const receiptLabel = "Your receipt";
export const look = "Show";
export const noReceipt = "A receipt is svr_ and 43 letters, digits, - or _.";
export const hasNothing = "The server has nothing of yours.";
export const noConnection = "No connection to the server. Try again later.";
/** @param {string} day */
export const receivedOn = (day) => `Received on ${day} (UTC)`;
/** @param {string} count */
export const sealedBack = (count) => `Sealed answers to ${count === "1" ? "one question" : `${count} questions`}. Nobody, not even you, can read them back.`;
export const deleteThis = "Delete this";
export const sureToDelete = "Delete it from the server? It cannot be sent again, and these questions cannot be answered again.";
export const deleteNow = "Yes, delete";
export const keepIt = "Keep it";
export const deletingCannot = "Deleting takes your reports out of all results from now on. It cannot unsay what somebody has seen already, so your budget stays used.";
export const countedAlready = "It can no longer be taken back: the keyholders are counting it, or the campaign is closed. Nothing but the total is ever opened.";
export const takingBackSealed = "You can take sealed answers back until the keyholders have counted them. From then on they are part of the total. Your budget stays used.";

// What stands in the way.
export const halted = "Nothing is sent";
export const reload = "Load again";
export const troubles = {
  no_invite: ["This link is not complete", "It has no invite after the #. Ask whoever sent it for the whole link. If you have answered before, “My data” below shows what the server has."],
  bad_credential: ["This invite is not valid", "It is not for this campaign, or it was revoked. Ask whoever sent it for another."],
  invite_used: ["This invite has been used", "It was for one person, and somebody has answered with it, perhaps you on another device. Ask for another."],
  invite_expired: ["This invite has expired", "Ask whoever sent it for another."],
  not_open: ["This campaign is closed", "It takes no more reports. Thank you for coming. If you have answered, “My data” below shows what the server has."],
  not_found: ["There is no campaign here", "It may have been deleted. Ask whoever sent you the link."],
  quota_reached: ["This campaign is complete", "As many people as it wanted have answered. Thank you for coming."],
  policy_changed: ["The promise has been changed", "This campaign offers another policy than the one this device has pinned. That must not happen, so nothing is sent. Ask the requester why. First the pinned policy, then the one offered now:"],
  unverifiable: ["This promise cannot be checked here", "This page sends only what it can verify itself, and in a browser that is not possible for this campaign:"],
  insecure: ["This connection is not secure", "Without https others could read and alter this page, and the browser withholds what is needed to protect you. Ask for a link that starts with https."],
  no_storage: ["This browser keeps nothing", "What is drawn must be kept, or it would be drawn again and protect less. Allow this site to store data, or leave private browsing."],
  simulated: ["This is a sample", "All its workers are simulated. It takes no real answers."],
  unreachable: ["No connection", "The server does not answer. Check your connection and load the page again."],
  nonsense: ["The server’s offer makes no sense", "It gives other tasks than the policy promises for. Ask the requester."],
  over_limit: ["This goes beyond your limit", "Another campaign has used part of your budget in the meantime. Nothing was sent."],
  already_reported: ["Already reported", "The server has reports on these questions from you already."],
  erased: ["Deleted", "These reports were deleted, and are not stored again."],
  declined: ["Thank you all the same", "Nothing was sent, and nothing stays on this device. You can close this page."],
  error: ["Something went wrong in this page", "What is to be sent is kept. Load the page again; if that does not help, tell whoever sent you the link:"],
};
export const reasons = {
  format: "The policy has a form or a field that this page does not know.",
  calibration: "The policy is made as published in a paper, not to keep a promise.",
  mechanism: "The policy’s mechanism does not run in a browser.",
  promise: "The policy promises more than its mechanism keeps.",
  delta: "The promise allows a small chance of betraying anything (delta).",
  domain: "The policy’s range or labels cannot be used.",
  keyholders: "The policy’s keyholders are too few, or their keys cannot be used.",
  browser: "This browser is too old to seal answers. Use a newer one, or the terminal.",
  insecure: "The connection is not secure.",
};
/** @param {string} reason */
export const refusals = (reason) =>
  `The server does not take it. ${troubles[/** @type {keyof typeof troubles} */ (reason)]?.[1] ?? `It says: ${reason}.`}`;
