/* Every word of the page, and how numbers are said. */

export const TEXT = {
  loading: "Getting the next one…",
  saved: "Saved",
  sending: "Saving…",
  signedOut: "Signed out",
  signIn: "Please sign in again. Nothing is lost: what you answered is kept in this browser and sent once you are back.",
  signInAction: "Sign in",
  otherTitle: "Somebody else is signed in here",
  otherText: "Another link was opened in this browser. Nothing is lost: what you answered is kept and sent once you open your own link again.",
  otherAction: "Go on as them",
  quick: "You are quick",
  quickText: "The next one is on its way.",
  offlineTitle: "There is no network",
  goneTitle: "The server does not answer",
  tryNow: "Try now",
  refused: "That answer was not taken: ",
  refusedUndo: "That could not be taken back: ",
  refusedSkip: "That could not be skipped: ",
  nothingToUndo: "There is nothing to take back.",
  undoLater: "It will be taken back as soon as the network is there.",
  takenBack: "Taken back. Answer it again.",
  skipTitle: "Why skip this one?",
  skipCancel: "Back to the question",
  before: "before",
  measured: "measured",
  prefilled: "The measurement is marked. Press Enter to agree, or choose another.",
  prefilledTouch: "The measurement is marked. Tap it to agree, or choose another.",
  previous: "Your answer from before is marked. Press Enter to keep it.",
  previousTouch: "Your answer from before is marked. Tap it to keep it.",
  words: "In a few words",
  send: "Send",
  broken: "This one does not play here.",
  brokenHint: "Skip it, or load it again.",
  again: "Load again",
  begin: "Begin",
  doneTitle: "All done. Thank you!",
  doneText: "There is nothing left for you to judge in this study.",
  pausedTitle: "A short pause",
  pausedText: "This study has paused your tasks. The people who run it will let you go on.",
  waitingTitle: "Nothing to do at the moment",
  waitingText: "Others are working on what is left. The page asks again by itself.",
  lookNow: "Look now",
  welcomeKeys: "Hands on the keyboard: every answer shows its key. Press ? for all keys.",
  welcomeTouch: "Tap an answer to choose it. Double-tap or pinch a picture to zoom.",
  more: "Read all",
  less: "Show less",
  leaveUnsent: "Some answers have not reached the server yet. They are kept in this browser, and only you can send them. Sign out all the same?",
  stay: "Stay",
  leave: "Sign out",
  helpTitle: "Keys",
  helpTouchTitle: "How to look closely",
  close: "Close",
  touch: "On a touch screen: double-tap or pinch to zoom, drag to move, hold the buttons to flip.",
  consentTitle: "Before you begin",
  agree: "I agree",
  disagree: "I do not agree",
  next: "Next",
  or: " or ",
  practice: "Practice",
  test: "Test",
  practiceRight: "That is right.",
  practiceWrong: "Not quite.",
  practiceAnswer: "The right answer is:",
  restTitle: "A short break",
  restText: "Look away from the screen for a moment. The next task comes by itself.",
  rereadTitle: "Please read this again",
  rereadText: "Some of your answers were different from those that are known. Read once more what is asked, and look closely.",
  rereadAction: "I have read it",
  endedTitle: "The end",
  testNext: (tasks) => `Now comes a test of ${tasks === 1 ? "1 task" : `${tasks} tasks`}, without comments.`,
  codeSaid: "Your completion code:",
  copy: "Copy",
  copied: "Copied",
  goBack: (seconds) => (seconds > 0 ? `Go back now (by itself in ${seconds} s)` : "Going back…"),
  stop: "Stop",
  stopTitle: "You may stop at any time, without a reason.",
  withdraw: "Withdraw",
  withdrawTitle: "You may withdraw, without a reason. Go back with your code first: afterwards nobody here knows who you were.",
  stopAndReturn: "Stop and return my place",
  stopAndErase: "Withdraw, and delete what names me",
  goOn: "Go on",
  ended: "That is over",
  smallTitle: "The pictures are too small to judge",
  smallTurn: "Please turn your phone, or use a tablet or a computer.",
  smallEnlarge: "Please make the window larger, or the page's zoom smaller.",
  smallZoom: "Please zoom out.",
  wheel: "The wheel over a picture zooms all of them.",
};

/** 634 -> "about 11 min". */
export function duration(seconds) {
  if (seconds < 90) return `about ${Math.max(10, Math.round(seconds / 10) * 10)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} min`;
  const halves = Math.round(minutes / 30) / 2;
  return `about ${Number.isInteger(halves) ? halves : `${Math.floor(halves)}½`} h`;
}

/** "7 s each, about 11 min left"; empty before a pace is known. */
export function pace(progress) {
  if (!progress.seconds_per_task || progress.seconds_left === null) return "";
  const each = progress.seconds_per_task;
  const said = each < 10 ? Math.round(each * 10) / 10 : Math.round(each);
  return progress.seconds_left > 0 ? `${said} s each, ${duration(progress.seconds_left)} left` : `${said} s each`;
}

/** What is said while nothing more can be shown: 2 -> "2 answers are kept ..." */
export function keptUntilBack(count) {
  const again = "This page tries again by itself.";
  if (!count) return again;
  return `${count === 1 ? "1 answer is" : `${count} answers are`} kept in this browser and sent once it is back. ${again}`;
}

export const waitingFor = (count) => count === 1 ? "1 answer waiting for the network" : `${count} answers waiting for the network`;

export function watchOn(seconds, playing, { keys }) {
  const left = `${Math.max(0.1, seconds).toFixed(1)} s left`;
  return playing ? `Watch to the end: ${left}` : `Watch to the end: ${keys ? "press space" : "tap ▶"}, ${left}`;
}

export const measurementSaid = (label) => `For the last one the measurement said: ${label}`;
