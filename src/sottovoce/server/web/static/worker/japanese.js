// 日本語のページ。

export const code = "ja";
export const otherLanguage = "English";
export const noCookies = "Cookieも追跡も、他のサイトへの通信もありません。";

// 同意の前
export const invited = "ご回答のお願い";
/** @param {string} count @param {string} all @param {string} host */
export const howMany = (count, all, host) => `${count === all ? "" : `全${all}問のうち、あなたのために選ばれた`}${count}問です。依頼元：${host}`;
export const whatHappens = "あなたの回答はこう扱われます";
export const changedHere = "回答は、送信の前にこの端末の中で無作為に変えられます。";
export const nobodySure = "そのため、あなたが実際に何を選んだのかは、このサーバーを含め誰にも断定できません。";
export const moreThan99 = "99人超";
export const fewerThan1 = "1人未満";
/** @param {string} n */
const people = (n) => (/^\d+$/.test(n) ? `${n}人` : n);
/** @param {string} kept @param {string} others @param {boolean} orNothing */
export const oddsOfLabels = (kept, others, orNothing) =>
  `同じ回答を選んだ100人のうち、${people(kept)}はそのまま送り、${people(others)}は別の回答${orNothing ? "または「回答なし」" : ""}を送ります。`;
/** @param {string} kept @param {string} others @param {number} size */
export const oddsOfSets = (kept, others, size) =>
  `送られるのは${size}個の候補の組です。同じ回答を選んだ100人のうち、${people(kept)}の組には本当の回答が含まれ、${people(others)}の組には含まれません。`;
/** @param {string} kept @param {string} others */
export const oddsOfPoints = (kept, others) =>
  `範囲の中央の同じ値を答えた100人のうち、${people(kept)}は範囲の1割以内の近い値を、${people(others)}はそれより離れた値を送ります。`;
/** @param {string} kept @param {string} others */
export const oddsOfSides = (kept, others) =>
  `送られるのは、無作為に選ばれた値より下かどうかだけです。同じ回答の100人のうち、${people(kept)}は本当の側を、${people(others)}はそうでないものを送ります。`;
/** @param {string} kept @param {string} others */
export const oddsOfEnds = (kept, others) =>
  `送られるのは「下端」か「上端」だけです。回答が範囲の端にある100人のうち、${people(kept)}はその端を、${people(others)}は反対の端を送ります。`;
/** 2種類の印の意味 @param {string} alphabet */
export const marks = (alphabet) =>
  alphabet === "points" ? ["近い値", "離れた値"] : alphabet === "subsets" ? ["回答を含む", "含まない"] : ["本当の回答", "無作為に変更"];
/** @param {string} sent @param {string} count */
export const sampledOnly = (sent, count) => `${count}件の回答のうち、無作為に選ばれた${sent}件だけが送られます。残りはこの端末に残ります。`;
export const skippingHidden = "とばしたことも秘密です。答えた質問にも、とばした質問にも、必ず報告が送られます。";
/** @param {string} count @param {number} times */
export const together = (count, times) =>
  times > 1
    ? `${count}件の回答をすべて合わせると、1件の場合の最大${Math.round(times)}倍、あなたについて伝わる可能性があります。`
    : "すべての回答を合わせても、1件の場合より多くは伝わりません。";
/** @param {string} count */
export const togetherLittle = (count) => `${count}件の回答をすべて合わせると、あなたという人についてはほとんど隠せません。`;
export const hidesLittle = "この設定ではほとんど隠せません。送られた報告は、ほぼ本当の回答として読み取られるおそれがあります。";
export const sealedHere = "回答は、送信の前にこの端末の中で封印されます。このサーバーが中を見ることはできません。";
/** @param {string} seats @param {string} names @param {string} minimum */
export const sealedSteps = (seats, names, minimum) => [
  `回答を${seats}つの断片に分けます。1つの断片だけでは、ただの乱数です。`,
  `断片をひとつずつ、鍵の管理者（${names}）だけが開けられるように封印します。`,
  `最後に管理者は、${minimum}人以上の回答者全員分をノイズとともに足し合わせた合計を1つ開けます。その合計以外は誰にも見えません。`,
];
/** @param {string} needed @param {string} seats */
export const takesToRead = (needed, seats) => `あなたの回答を読むには、${seats}者の管理者のうち${needed}者が約束を破って手を組む必要があります。`;
export const totalHides = "合計にはノイズが加わるため、ほかの全員の回答を知っている人でも、あなたが何を選んだのかは断定できません。";
export const totalHidesLittle = "ノイズがわずかです。ほかの全員の回答を知っている人には、合計からあなたの回答をほぼ読み取られるおそれがあります。";
export const whoHoldsKeys = "鍵の管理者";
export const fingerprintsFor = "管理者はそれぞれ、鍵の指紋を公開しています。見比べると、誰に宛てて封印されるのかを確かめられます。";
export const inNumbers = "数値で見る";
export const forOneAnswer = "回答1件あたり";
/** @param {string} count */
export const forAll = (count) => `${count}件の回答の合計`;
/** @param {string} epsilon */
export const epsilonPerAnswer = (epsilon) => `回答あたり ε ${epsilon}`;
/** @param {string} epsilon */
export const epsilonPerWorker = (epsilon) => `回答者あたり ε ${epsilon}`;
export const computedHere = "δ＝0の厳密な値（切り上げ）で、お使いのブラウザーが規約から計算しました。小さいほど秘密が守られます。";
/** @param {string} right 100回のうち当たる回数の上限 */
export const numbersExplained = (right) =>
  `あなたの回答が2つのうちのどちらか（可能性は半々）だと知っている人がいるとします。送られた報告を見て言い当てられるのは、100回のうち最大${right}回です。見なければ50回です。`;
/** @param {string} right @param {string} colluders */
export const totalExplained = (right, colluders) =>
  `ほかの全員の回答と、あなたの回答が2つのうちのどちらか（可能性は半々）だということを知っている人がいるとします。開けられた合計を見て言い当てられるのは、管理者${colluders}者と手を組んでも、100回のうち最大${right}回です。見なければ50回です。`;
export const policyIs = "規約はこの端末に記録されます。後から別の規約が示された場合、何も送りません。";
export const whatIsStored = "保存される内容と、見る人";
/** @param {boolean} hidden */
export const storedLines = (hidden) => [
  "サーバーには、送られた内容、届いた日、この調査だけで使う仮の名前が保存されます。",
  `依頼者も同じ内容を見ます。${hidden ? "ただし、どの質問に答えたかはわかりません。" : "どの質問に答えたかもわかります。"}`,
  "サーバーからは、あなたのネットワークアドレスが見えます。あなた専用のリンクの場合は、誰が参加したかもわかりますが、何と答えたかはわかりません。",
  "回答そのものはこのタブの中だけにあり、報告の送信後、またはタブを閉じたときに消えます。",
  "受領コードをお渡しします。保存された内容を確認でき、受付期間中は削除もできます。",
];
/** @param {boolean} hidden */
export const storedSealed = (hidden) => [
  "サーバーには、封印された断片、届いた日、この調査だけで使う仮の名前が保存されます。",
  `依頼者には、この仮の名前が参加したことがわかります。${hidden ? "どの質問に答えたかはわかりません。" : "どの質問に答えたかもわかります。"}回答の内容は、合計としてしか見えません。`,
  "サーバーからは、あなたのネットワークアドレスが見えます。あなた専用のリンクの場合は、誰が参加したかもわかりますが、何と答えたかはわかりません。",
  "回答そのものはこのタブの中だけにあり、封印後、またはタブを閉じたときに消えます。",
  "受領コードをお渡しします。集計に入るまでは、封印した回答を取り下げられます。",
];
export const whatToTrust = "信頼が必要なもの";
export const trustServer =
  "この端末と、このページです。このページは、あなたの回答を見せないようにしている相手のサーバーから届いており、不正なサーバーなら書き換えることもできます。次の方法で、ご自分で確かめられます。";
/** @param {string} needed */
export const trustKeyholders = (needed) => `鍵の管理者：手を組む者が${needed}者に満たない限り、回答は誰にも読めません。`;
export const howToCheck = "このページを確かめる方法";
/** @param {string} file */
export const checkHash = (file) => `お使いのブラウザーにある ${file} のSHA-256です。このファイルが、回答を送信内容に変えます。配布版とともに公開されている値と比べてください。`;
export const checkCommand = "配布版のソフトウェアで、すべてのファイルを比べることもできます。";
export const strongerOption = "より安全な方法：ターミナルで回答する";
/** @param {string} extras */
export const inTerminal = (extras) => `ご自分でインストールしたソフトウェアは、このサーバーから届くものではありません。Pythonが必要です。Sottovoceのソースコードのフォルダーで、次を実行してください：pip install '.[${extras}]'`;
export const onThisDevice = "この端末でのプライバシー予算";
/** @param {number} before @param {number} now */
export const spentSoFar = (before, now) =>
  `${before ? `これまでの調査で、この端末の上限の${before}%を使いました` : "まだ何も使っていません"}。この調査では最大${now}%を使います。`;
/** @param {string} before @param {string} now @param {string} most */
export const spentInNumbers = (before, now, most) => `回答者あたりのε：使用済み ${before}、この調査で最大 ${now}、上限 ${most}`;
/** @param {string} count @param {string} wanted */
export const limitCovers = (count, wanted) => `上限の範囲で答えられるのは、${wanted}問のうち${count}問です。それ以上はおたずねしません。サーバーには、上限に達したことだけが伝わり、どれだけ使ったかは伝わりません。`;
export const limitRefuses = "この調査は上限を超えるため、ご回答いただけません。プライバシーの損失は積み重なります。小さな手がかりも、多く集まると確かな推測につながります。";
export const raiseLimit = "上限を引き上げる";
export const raiseMeans = "上限を引き上げると、ここでの調査全体に、あなたについてより多くが伝わります。元に戻すことはできません。";
export const newLimit = "新しい上限（回答者あたりのε）";
export const raiseNow = "引き上げる";
export const noAccount = "アカウントは不要です。最後のページを確認して「送信する」を押すまで、何も送られません。";
export const agree = "同意して始める";
export const noThanks = "参加しない";

// 質問
/** @param {string} place @param {string} count */
export const progress = (place, count) => `${count}問中 ${place}問目`;
export const progressBar = "質問の進み具合";
export const next = "次へ";
export const back = "戻る";
export const skip = "とばす";
export const skipPrivate = "とばしたことは秘密です。誰にもわかりません。";
export const skipSeen = "とばした質問は送られません。送られなかったことは、ほかの人にもわかります。";
export const imageOf = "この質問の画像";
/** @param {string} host */
export const openImage = (host) => `${host} で画像を開く（そのサイトにアクセスが伝わります）`;
/** @param {string} low @param {string} high @param {string | null} unit @param {string | undefined} step */
export const range = (low, high, unit, step) => `${low}から${high}${unit ? ` ${unit}` : ""}までの数${step ? `（${step}刻み）` : ""}`;
/** @param {string} range */
export const notInRange = (range) => `${range}を入力するか、とばしてください。小数点はピリオドです。`;
export const chooseOne = "1つ選ぶか、とばしてください。";
export const findLabel = "回答を探す";
/** @param {string} count */
export const moreLabels = (count) => `ほかに${count}件あります。文字を入力して絞り込んでください。`;
export const noLabel = "当てはまる回答がありません。";
export const lastLook = "最後の確認";
export const yourAnswers = "あなたの回答";
export const stillHere = "回答はこの端末の、このタブの中だけにあります。まだ変更できます。";
export const change = "変更";
export const drawnOnce = "次に、送る内容を端末が無作為に決めます。決めるのは一度だけで、その後は回答を変更できません。";
export const sealedOnce = "次に、端末が回答を封印し、元の回答を消します。その後は変更できず、後から追加で答えることもできません。";
export const nothingToSend = "すべての質問をとばしたため、送るものがありません。";
export const drawAndGoOn = "送る内容を決めて進む";
export const sealAndGoOn = "封印して進む";

// 送信される内容
export const drawn = "端末の中で決まりました";
export const whatLeaves = "送信される内容";
export const whatLeavesLead = "送られるのは右側だけです。回答と異なる場合は、保護が働いています。";
export const shownAfter = "送る内容が決まり、保存されました。決まった内容を見て送信をやめることができないよう、この調査では送信後に内容をお見せします。";
export const sealedKicker = "端末の中で封印しました";
export const sealedLead = "送られるのは、管理者ごとに封印された断片だけです。元の回答はこのタブから消えました。";
/** @param {string} name */
export const sealedFor = (name) => `${name} 宛ての封印`;
/** @param {string} bytes @param {string} name */
export const onlyOpenedBy = (bytes, name) => `${name} だけが開けられる${bytes}バイト。中身は乱数（各回答の断片）です`;
export const readableByServer = "サーバーから見えるもの";
/** @param {string} count @param {string} worker */
export const readable = (count, worker) => `どの${count}問についてのものかと、あなたの仮の名前：${worker}`;
export const sealedForGood = "封印した内容は、あなた自身を含め、誰にも読み戻せません。";
export const youChose = "あなたの回答";
export const staysHere = "端末に残ります";
export const willBeSent = "送られる内容";
export const wasSent = "送られた内容";
export const same = "回答と同じ";
export const sideTrue = "回答に当てはまる";
export const changed = "無作為に変更";
export const differs = "送られる内容は回答と異なります。保護が働いています。";
export const notKnownHere = "あなただけが知っています";
export const skipped = "（とばしました）";
export const nothing = "（回答なし）";
export const notSent = "（送られません）";
export const notInSample = "選ばれませんでした";
export const noisy = "ノイズを加えた値";
export const beyond = "ノイズを加えた値（範囲を超えることがあります）";
/** @param {boolean} high @param {string} value */
export const end = (high, value) => `${high ? "上端" : "下端"}（${value}）`;
export const endNote = "無作為に選択（近い端ほど選ばれやすい）";
/** @param {boolean} below @param {string} value */
export const side = (below, value) => (below ? `${value} 未満` : `${value} 以上`);
export const comma = "、";
/** @param {boolean | null} has */
export const setNote = (has) => (has === null ? "1つの組" : has ? "回答を含む組" : "偶然により、回答を含まない組");
/** @param {string} place */
export const offScale = (place) => `目盛りの外（${place}番目）`;
/** @param {string} bytes */
export const exactly = (bytes) => `送信される${bytes}バイトをそのまま見る`;
export const exactHeaders = "これが通信内容のすべてです。ブラウザー名など、ブラウザーが毎回付ける情報は別に加わります。";
export const theInvite = "Bearer（招待コード）";
export const theReceipt = "（受領コード）";
export const noSecondDraw = "決め直しはできません。望む結果が出るまで決め直すと、本当の回答が伝わってしまうためです。";
export const send = "送信する";
export const sendingKicker = "処理中";
export const sendingTitle = "送信しています";
export const sendingNow = "送信しています…";
/** @param {string} seconds */
export const waits = (seconds) => `サーバーに接続できません。${seconds}秒後にもう一度送ります。`;
export const keptHere = "送る内容はこの端末に保存されており、まったく同じ内容がもう一度送られます。このページを閉じて、後で戻ってきてもかまいません。";
export const tryNow = "今すぐ送る";

// 送信後
export const sentKicker = "送信済み";
export const thanks = "ありがとうございました";
/** @param {string} count */
export const serverHas = (count) => `サーバーに${count}件が届きました。`;
/** @param {string} count */
export const serverHasSealed = (count) => `封印された${count}問分の回答がサーバーに届きました。サーバーには読めません。`;
export const yourReceipt = "受領コード";
export const receiptFor = "保存された内容の確認と削除には、このコードが必要です。ほかの方法はありません。コードはこの端末に保存されています。ほかの方も端末を使う場合は、控えをお取りください。";
export const copy = "コピー";
export const copied = "コピーしました。";
export const notCopied = "コピーできませんでした。文字を選択してコピーしてください。";
export const saveFile = "ファイルに保存";
/** @param {string} count */
export const moreQuestions = (count) => `あと${count}問あります`;
export const moreLater = "今でも後でも、お答えいただけます。答えなくてもかまいません。";
export const goOn = "続けて答える";
export const done = "完了";
export const allDone = "これで完了です";
export const mayClose = "回答はこのタブから消えました。タブを閉じていただけます。";
export const myData = "自分のデータ";
export const whatServerHas = "サーバーに保存されているあなたのデータ";
export const receiptLabel = "受領コード";
export const look = "表示";
export const noReceipt = "受領コードは、svr_ に続く43文字の英数字、-、_ です。";
export const hasNothing = "サーバーに、あなたから送られたデータはありません。";
export const noConnection = "サーバーに接続できません。しばらくしてからお試しください。";
/** @param {string} day */
export const receivedOn = (day) => `${day} に受領（UTC）`;
/** @param {string} count */
export const sealedBack = (count) => `封印された${count}問分の回答です。あなた自身を含め、誰にも読み戻せません。`;
export const deleteThis = "削除する";
export const sureToDelete = "サーバーから削除しますか。もう一度送ることも、同じ質問に答え直すこともできません。";
export const deleteNow = "はい、削除します";
export const keepIt = "残す";
export const deletingCannot = "削除すると、あなたの報告は以後のすべての結果から除かれます。すでに誰かが見た内容を取り消すことはできないため、使った予算は戻りません。";
export const countedAlready = "もう取り下げられません。管理者の集計が始まったか、受付が終了しています。開けられるのは合計だけです。";
export const takingBackSealed = "封印した回答は、管理者の集計に入るまで取り下げられます。その後は合計の一部となります。使った予算は戻りません。";

// 回答できないとき
export const halted = "何も送られません";
export const reload = "読み込み直す";
export const troubles = {
  no_invite: ["リンクが途中で切れています", "# の後に招待コードがありません。送り主に、リンク全体をお尋ねください。すでに回答された方は、下の「自分のデータ」で保存された内容を確認できます。"],
  bad_credential: ["この招待は使えません", "この調査のものではないか、取り消されました。送り主に新しい招待をお求めください。"],
  invite_used: ["この招待は使用済みです", "お一人用の招待で、すでに回答があります（別の端末でご自身が使った場合も含みます）。送り主に新しい招待をお求めください。"],
  invite_expired: ["この招待は期限切れです", "送り主に新しい招待をお求めください。"],
  not_open: ["この調査は終了しました", "受付を終了しています。ご関心をお寄せいただき、ありがとうございました。回答された方は、下の「自分のデータ」で保存された内容を確認できます。"],
  not_found: ["調査が見つかりません", "削除された可能性があります。リンクの送り主にお尋ねください。"],
  settled: ["すべての質問に十分な回答が集まりました", "おたずねすることはありません。ご関心をお寄せいただき、ありがとうございました。"],
  quota_reached: ["定員に達しました", "予定の人数の回答が集まりました。ご関心をお寄せいただき、ありがとうございました。"],
  policy_changed: ["規約が変更されています", "この端末に記録した規約とは別の規約が示されました。決してあってはならないことなので、何も送りません。依頼者に理由をお尋ねください。上が記録した規約、下が今の規約です。"],
  unverifiable: ["この保証はここでは確かめられません", "このページは、自ら確かめられるものだけを送ります。この調査はブラウザーでは確かめられません。"],
  insecure: ["接続が安全ではありません", "httpsでない接続では、ページを盗み見られたり書き換えられたりするおそれがあり、保護に必要な機能も使えません。httpsで始まるリンクをお求めください。"],
  no_storage: ["データを保存できません", "送る内容は、決まった時点で保存する必要があります。決め直すと保護が弱まります。このサイトにデータの保存を許可するか、プライベートモードを終了してください。"],
  simulated: ["これは見本です", "回答者はすべて模擬です。実際の回答は受け付けていません。"],
  unreachable: ["接続できません", "サーバーから応答がありません。接続を確認して、読み込み直してください。"],
  nonsense: ["サーバーの内容に矛盾があります", "規約と異なる質問が示されました。依頼者にお尋ねください。"],
  over_limit: ["上限を超えます", "別の調査で予算が使われたため、何も送られませんでした。"],
  already_reported: ["すでに届いています", "これらの質問への報告は、すでにサーバーにあります。"],
  erased: ["削除済みです", "この報告は削除されたため、再び保存されることはありません。"],
  declined: ["ありがとうございました", "何も送られず、この端末にも何も残りません。ページを閉じていただけます。"],
  error: ["ページの中で問題が起きました", "送る内容は保存されています。読み込み直しても直らない場合は、リンクの送り主に次の内容をお伝えください。"],
};
export const reasons = {
  format: "規約の形式または項目が、このページの知らないものです。",
  calibration: "規約の設定は論文で公表された値のままで、保証を守るように調整されていません。",
  mechanism: "規約の仕組みはブラウザーでは動きません。",
  promise: "規約の約束が、その仕組みで実際に守れる水準を超えています。",
  delta: "この保証は、わずかな確率（δ）で破れることがあり、その場合は何でも伝わるおそれがあります。",
  domain: "規約の範囲または選択肢を使えません。",
  keyholders: "鍵の管理者が足りないか、鍵を使えません。",
  browser: "このブラウザーは古く、回答を封印できません。新しいブラウザーか、ターミナルをお使いください。",
  insecure: "接続が安全ではありません。",
};
/** @param {string} reason */
export const refusals = (reason) =>
  `サーバーが受け付けませんでした。${troubles[/** @type {keyof typeof troubles} */ (reason)]?.[1] ?? `理由：${reason}`}`;
