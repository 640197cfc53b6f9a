// The page in English.

export const code = "en";
export const otherLanguage = "日本語";
export const noCookies = "No cookies, no trackers, nothing from other sites.";

// Consent.
export const invited = "You are invited to answer";
/** @param {string} count @param {string} all @param {string} host */
export const howMany = (count, all, host) =>
  `${count === "1" ? "One question" : `${count} questions`}${count === all ? "" : ` of ${all}, chosen for you`}. Asked by ${host}.`;
export const whatHappens = "What happens to your answers";
export const changedHere = "Your device changes your answers at random before anything is sent. ";
export const nobodySure = "So nobody, not even this server, can be sure what you chose.";
export const moreThan99 = "more than 99";
export const fewerThan1 = "fewer than 1";
/** @param {string} kept @param {string} others @param {boolean} orNothing */
export const oddsOfLabels = (kept, others, orNothing) =>
  `Of 100 people with the same answer, ${kept} send it and ${others} send something else${orNothing ? ", or “nothing”" : ""}.`;
/** @param {string} kept @param {string} others @param {number} size */
export const oddsOfSets = (kept, others, size) =>
  `A set of ${size} possible answers is sent. Of 100 people with the same answer, ${kept} send a set that contains it and ${others} send a set that does not.`;
/** @param {string} kept @param {string} others */
export const oddsOfPoints = (kept, others) =>
  `Of 100 people with the same answer in the middle of the range, ${kept} send a number close to it (within a tenth of the range) and ${others} send one farther away.`;
/** @param {string} kept @param {string} others */
export const oddsOfSides = (kept, others) =>
  `Only the side is sent: whether your answer is below a value picked at random. Of 100 people with the same answer, ${kept} send the true side and ${others} do not.`;
/** @param {string} kept @param {string} others */
export const oddsOfEnds = (kept, others) =>
  `Only “low end” or “high end” is sent. Of 100 people whose answer is at an end of the range, ${kept} send that end and ${others} send the other.`;
/** What the two kinds of marks mean. @param {string} alphabet */
export const marks = (alphabet) =>
  alphabet === "points" ? ["near", "farther away"] : alphabet === "subsets" ? ["with the answer", "without it"] : ["true", "changed at random"];
/** @param {string} sent @param {string} count */
export const sampledOnly = (sent, count) => `Only ${sent} of your ${count} answers are sent, picked at random. The others stay here.`;
export const skippingHidden = "Skipping is private too: a report is sent for every question, answered or not.";
/** @param {string} count @param {number} times */
export const together = (count, times) =>
  times > 1
    ? `All ${count} answers together can reveal up to ${Math.round(times)} times as much about you as one.`
    : "All your answers together reveal no more about you than one.";
/** @param {string} count */
export const togetherLittle = (count) => `All ${count} answers together hide little about you as a whole.`;
export const hidesLittle = "This hides little. Others can treat your reports almost as your true answers.";
export const sealedHere = "Your device seals your answers before anything is sent. This server cannot open them.";
/** @param {string} seats @param {string} names @param {string} minimum */
export const sealedSteps = (seats, names, minimum) => [
  `Your answers are split into ${seats} parts. One part alone contains only random numbers.`,
  `Each part is locked for one keyholder: ${names}.`,
  `At the end, the keyholders open one total over all workers, at least ${minimum} people, with noise added. Nobody sees anything but that total.`,
];
/** @param {string} needed @param {string} seats */
export const takesToRead = (needed, seats) => `To read your answers, ${needed} of the ${seats} keyholders would have to break their promise and work together.`;
export const totalHides = "The noise hides you in the total: even someone who knows all other answers cannot be sure what you chose.";
export const totalHidesLittle = "The noise is small. Someone who knows all other answers could almost read your answer from the total.";
export const whoHoldsKeys = "The keyholders";
export const fingerprintsFor = "Keyholders publish the fingerprints of their keys. Compare them to check for whom your answers are sealed:";
export const inNumbers = "In numbers";
export const forOneAnswer = "For one answer";
/** @param {string} count */
export const forAll = (count) => `For all your answers together (${count})`;
/** @param {string} epsilon */
export const epsilonPerAnswer = (epsilon) => `epsilon ${epsilon} per answer`;
/** @param {string} epsilon */
export const epsilonPerWorker = (epsilon) => `epsilon ${epsilon} per worker`;
export const computedHere = "Exact, with delta 0, rounded up. Your browser computed it from the policy. Smaller is more private.";
/** @param {string} right at most this often of 100 */
export const numbersExplained = (right) =>
  `Suppose someone knows that you gave one of two answers, each as likely. With your report their guess is right at most ${right} times of 100. Without it, it is right 50 times.`;
/** @param {string} right @param {string} colluders */
export const totalExplained = (right, colluders) =>
  `Suppose someone knows all other answers, and that you gave one of two answers, each as likely. With the opened total their guess is right at most ${right} times of 100, even with the help of ${colluders === "1" ? "one keyholder" : `${colluders} keyholders`}. Without it, it is right 50 times.`;
export const policyIs = "The policy is pinned on this device. If the campaign ever offers a different one, nothing is sent:";
export const whatIsStored = "What is stored, and who sees it";
/** @param {boolean} hidden */
export const storedLines = (hidden) => [
  "The server stores what is sent, the day it arrives, and a made-up name for you that is used in this campaign only.",
  `The requester sees the same${hidden ? ", but not which questions you answered" : ", including which questions you answered"}.`,
  "The server can see your network address. A personal link also shows who takes part, but not what you answered.",
  "Your answers stay in this tab. They are deleted when the reports have been sent or the tab is closed.",
  "You get a receipt. With it you can see what is stored and delete it while the campaign is open.",
];
/** @param {boolean} hidden */
export const storedSealed = (hidden) => [
  "The server stores the sealed parts, the day they arrive, and a made-up name for you that is used in this campaign only.",
  `The requester sees that this name took part${hidden ? ", but not which questions you answered" : " and which questions it answered"}. It sees answers only in the total.`,
  "The server can see your network address. A personal link also shows who takes part, but not what you answered.",
  "Your answers stay in this tab. They are deleted when they have been sealed or the tab is closed.",
  "You get a receipt. With it you can withdraw your sealed answers until they have been counted.",
];
export const whatToTrust = "What you have to trust";
export const trustServer =
  "This device and this page. The page comes from the same server that it protects you from, and a dishonest server could change it. You can check it yourself:";
/** @param {string} needed */
export const trustKeyholders = (needed) => `The keyholders: as long as fewer than ${needed} of them work together, nobody can read your answers.`;
export const howToCheck = "How to check this page";
/** @param {string} file */
export const checkHash = (file) => `This is the SHA-256 of ${file} in your browser. This file turns your answers into what is sent. Compare the value with the one published with the release:`;
export const checkCommand = "Or compare every file with the released software:";
export const strongerOption = "More secure: answer in a terminal";
/** @param {string} extras */
export const inTerminal = (extras) => `Software that you install yourself does not come from this server. It needs Python. In a checkout of Sottovoce, run: pip install '.[${extras}]'`;
export const onThisDevice = "Your privacy budget on this device";
/** @param {number} before @param {number} now */
export const spentSoFar = (before, now) =>
  `${before ? `Earlier campaigns here have used ${before}%` : "Nothing has been used yet"} of this device’s limit. This campaign uses up to ${now}%.`;
/** @param {string} before @param {string} now @param {string} most */
export const spentInNumbers = (before, now, most) => `epsilon per worker: ${before} used, up to ${now} for this campaign, limit ${most}`;
/** @param {string} count @param {string} wanted */
export const limitCovers = (count, wanted) => `Your limit covers ${count} of ${wanted} answers. You will not be asked more than that. The server is told that your limit stopped you, not how much you have spent.`;
export const limitRefuses = "This campaign would exceed your limit, so you cannot answer it. Privacy loss adds up: many small hints allow a good guess.";
export const raiseLimit = "Raise my limit";
export const raiseMeans = "A higher limit lets all campaigns here learn more about you. It cannot be lowered again.";
export const newLimit = "New limit (epsilon per worker)";
export const raiseNow = "Raise it";
export const noAccount = "No account is needed. Nothing is sent until you have seen the last page and pressed “Send”.";
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
export const skipSeen = "A skipped question is left out. Others can see that it was left out.";
export const imageOf = "Image for this question";
/** @param {string} host */
export const openImage = (host) => `Open the image on ${host}: that site will see your visit`;
/** @param {string} low @param {string} high @param {string | null} unit @param {string | undefined} step */
export const range = (low, high, unit, step) => `a number from ${low} to ${high}${unit ? ` ${unit}` : ""}${step ? `, in steps of ${step}` : ""}`;
/** @param {string} range */
export const notInRange = (range) => `Type ${range}, with a point for fractions. Or skip.`;
export const chooseOne = "Choose one, or skip.";
export const findLabel = "Find an answer";
/** @param {string} count */
export const moreLabels = (count) => `${count} more: type some letters to find them.`;
export const noLabel = "No answer has these letters.";
export const lastLook = "Review";
export const yourAnswers = "Your answers";
export const stillHere = "They are only on your device, in this tab. You can still change them.";
export const change = "Change";
export const drawnOnce = "Next, your device draws at random what will be sent. It draws only once. After that you cannot change your answers.";
export const sealedOnce = "Next, your device seals your answers and deletes the originals. After that you cannot change them, and you cannot answer more questions later.";
export const nothingToSend = "You skipped every question, so there is nothing to send.";
export const drawAndGoOn = "Draw and continue";
export const sealAndGoOn = "Seal and continue";

// What is sent.
export const drawn = "Drawn on your device";
export const whatLeaves = "What is sent";
export const whatLeavesLead = "Only the right side is sent. If it differs from your answer, the protection is working.";
export const shownAfter = "Your reports are drawn and stored. In this campaign you see them after sending, so that nobody can withhold a report because of its draw.";
export const sealedKicker = "Sealed on your device";
export const sealedLead = "Only sealed parts are sent, each for one keyholder. Your answers have been deleted from this tab.";
/** @param {string} name */
export const sealedFor = (name) => `Sealed for ${name}`;
/** @param {string} bytes @param {string} name */
export const onlyOpenedBy = (bytes, name) => `${bytes} bytes that only ${name} can open: random numbers, one part of each answer`;
export const readableByServer = "Readable by the server";
/** @param {string} count @param {string} worker */
export const readable = (count, worker) => `which ${count === "1" ? "question" : `${count} questions`} it is about, and your made-up name: ${worker}`;
export const sealedForGood = "Sealed: nobody can read it back, not even you.";
export const youChose = "You chose";
export const staysHere = "stays here";
export const willBeSent = "Will be sent";
export const wasSent = "Was sent";
export const same = "same as your answer";
export const sideTrue = "true for your answer";
export const changed = "changed at random";
export const differs = "The sent value differs from your answer: the protection is working.";
export const notKnownHere = "known to you only";
export const skipped = "(skipped)";
export const nothing = "(nothing)";
export const notSent = "(not sent)";
export const notInSample = "not picked";
export const noisy = "with noise added";
export const beyond = "with noise added; can be outside the range";
/** @param {boolean} high @param {string} value */
export const end = (high, value) => `${high ? "high" : "low"} end (${value})`;
export const endNote = "picked at random; the nearer end is more likely";
/** @param {boolean} below @param {string} value */
export const side = (below, value) => (below ? `below ${value}` : `${value} or more`);
export const comma = ", ";
/** @param {boolean | null} has */
export const setNote = (has) => (has === null ? "one set" : has ? "a set that contains your answer" : "a set without your answer, by chance");
/** @param {string} place */
export const offScale = (place) => `outside the scale (place ${place})`;
/** @param {string} bytes */
export const exactly = (bytes) => `The exact ${bytes} bytes`;
export const exactHeaders = "This is the whole request. Your browser also adds its usual headers, such as its name.";
export const theInvite = "Bearer (your invite)";
export const theReceipt = "(your receipt)";
export const noSecondDraw = "It cannot be drawn again: drawing until the result looks right would reveal your answer.";
export const send = "Send";
export const sendingKicker = "In progress";
export const sendingTitle = "Sending";
export const sendingNow = "Sending…";
/** @param {string} seconds */
export const waits = (seconds) => `No connection to the server. Next try in ${seconds} seconds.`;
export const keptHere = "The data to send is stored on this device and will be sent again unchanged. You can close this page and come back.";
export const tryNow = "Try now";

// Afterwards.
export const sentKicker = "Sent";
export const thanks = "Thank you";
/** @param {string} count */
export const serverHas = (count) => `The server has your ${count === "1" ? "report" : `${count} reports`}.`;
/** @param {string} count */
export const serverHasSealed = (count) => `The server has your sealed answers to ${count === "1" ? "one question" : `${count} questions`}. It cannot read them.`;
export const yourReceipt = "Your receipt";
export const receiptFor = "You need this code to see what is stored about you and to delete it; there is no other way. This device stores the code. Keep a copy if others use the device too.";
export const copy = "Copy";
export const copied = "Copied.";
export const notCopied = "The browser did not allow it: select the text and copy it.";
export const saveFile = "Save as a file";
/** @param {string} count */
export const moreQuestions = (count) => (count === "1" ? "One question is left" : `${count} questions are left`);
export const moreLater = "You can answer them now or later. You do not have to.";
export const goOn = "Answer more";
export const done = "Done";
export const allDone = "All done";
export const mayClose = "Your answers have been deleted from this tab. You can close it.";
export const myData = "My data";
export const whatServerHas = "What the server stores about you";
export const receiptLabel = "Your receipt";
export const look = "Show";
export const noReceipt = "A receipt is svr_ and 43 letters, digits, - or _.";
export const hasNothing = "The server stores nothing from you.";
export const noConnection = "No connection to the server. Try again later.";
/** @param {string} day */
export const receivedOn = (day) => `Received on ${day} (UTC)`;
/** @param {string} count */
export const sealedBack = (count) => `Sealed answers to ${count === "1" ? "one question" : `${count} questions`}. Nobody can read them back, not even you.`;
export const deleteThis = "Delete this";
export const sureToDelete = "Delete it from the server? You cannot send it again, and you cannot answer these questions again.";
export const deleteNow = "Yes, delete";
export const keepIt = "Keep it";
export const deletingCannot = "Deleting removes your reports from all later results. It cannot undo what others have already seen, so your budget stays used.";
export const countedAlready = "It can no longer be withdrawn: the keyholders are counting it, or the campaign is closed. Only the total is ever opened.";
export const takingBackSealed = "You can withdraw sealed answers until the keyholders have counted them. After that they are part of the total. Your budget stays used.";

// Errors.
export const halted = "Nothing is sent";
export const reload = "Load again";
export const troubles = {
  no_invite: ["This link is not complete", "The invite after the # is missing. Ask the sender for the whole link. If you have answered before, “My data” below shows what the server stores."],
  bad_credential: ["This invite is not valid", "It is not for this campaign, or it was revoked. Ask the sender for a new one."],
  invite_used: ["This invite has been used", "It was for one person, and someone has already answered with it, perhaps you on another device. Ask the sender for a new one."],
  invite_expired: ["This invite has expired", "Ask the sender for a new one."],
  not_open: ["This campaign is closed", "It accepts no more reports. Thank you for your interest. If you have answered, “My data” below shows what the server stores."],
  not_found: ["Campaign not found", "It may have been deleted. Ask the person who sent you the link."],
  settled: ["Every question has enough answers", "Nothing is asked of you. Thank you for your interest."],
  quota_reached: ["This campaign is complete", "The planned number of people have answered. Thank you for your interest."],
  policy_changed: ["The policy has changed", "This campaign now offers a different policy from the one pinned on this device. This must never happen, so nothing is sent. Ask the requester why. The pinned policy comes first, then the one offered now:"],
  unverifiable: ["This guarantee cannot be checked here", "This page sends only what it can verify itself. It cannot verify this campaign in a browser:"],
  insecure: ["This connection is not secure", "Without https, others could read and change this page, and the browser turns off functions that are needed to protect you. Ask for a link that starts with https."],
  no_storage: ["This browser stores no data", "Your reports must be stored once drawn. Drawing them again would weaken the protection. Allow this site to store data, or leave private browsing."],
  simulated: ["This is a sample", "All its workers are simulated. It accepts no real answers."],
  unreachable: ["No connection", "The server does not answer. Check your connection and load the page again."],
  nonsense: ["The server’s offer is inconsistent", "Its tasks differ from those in the policy. Ask the requester."],
  over_limit: ["This exceeds your limit", "Another campaign has used part of your budget in the meantime. Nothing was sent."],
  already_reported: ["Already reported", "The server already has your reports on these questions."],
  erased: ["Deleted", "These reports were deleted and are not stored again."],
  declined: ["Thank you anyway", "Nothing was sent, and nothing is left on this device. You can close this page."],
  error: ["Something went wrong on this page", "The data to send is stored. Load the page again. If that does not help, tell the person who sent you the link:"],
};
export const reasons = {
  format: "The policy has a format or a field that this page does not know.",
  calibration: "The policy’s parameters are those published in a paper. They are not calibrated to keep a guarantee.",
  mechanism: "The policy’s mechanism does not run in a browser.",
  promise: "The policy promises more than its mechanism provides.",
  delta: "The guarantee can fail with a small probability (delta) and then reveal anything.",
  domain: "The policy’s range or labels cannot be used.",
  keyholders: "The policy’s keyholders are too few, or their keys cannot be used.",
  browser: "This browser is too old to seal answers. Use a newer one, or the terminal.",
  insecure: "The connection is not secure.",
};
/** @param {string} reason */
export const refusals = (reason) =>
  `The server did not accept it. ${troubles[/** @type {keyof typeof troubles} */ (reason)]?.[1] ?? `It says: ${reason}.`}`;
