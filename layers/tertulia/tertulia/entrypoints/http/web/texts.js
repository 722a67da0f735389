/** Every word of the page in ten languages; the browser's language chooses, English is the rest. */

/** The texts by language. */
export const TEXTS = {
  en: {
    skip: "Skip to the message field", conversations: "Conversations", close: "Close", newConversation: "New conversation", more: "Show more",
    readAloud: "Read answers aloud", greeting: "What shall we talk about?", hint: "Type a message, or tap the microphone and speak.",
    suggestions: ["What is 15% of 80?", "Explain photosynthesis in two sentences", "What time is it?"],
    write: "Write a message", keys: "Enter sends, Shift+Enter starts a new line", listening: "Listening…", discard: "Discard", speak: "Speak",
    sendRecording: "Stop and send", stop: "Stop", send: "Send", cancel: "Cancel", delete: "Delete", deleteQuestion: "Delete “{title}” for good?",
    noConversations: "Nothing here yet.", untitled: "Untitled", you: "You", assistant: "Tertulia", ready: "Ready", starting: "Starting…", busy: "Answering…",
    away: "Not connected", ahead: "In line: {ahead} ahead", hearing: "Writing down what you said…", silence: "I heard nothing. Try again, a little louder or closer.",
    retry: "Try again", stopped: "Stopped", unreachable: "Cannot reach the server: {reason}. Your words are kept.", noAnswer: "no answer", offline: "this device is offline",
    timeout: "The request timed out; the answer may be a very long one.", broken: "The connection broke before the answer was complete.",
    unknown: "Something went wrong on the server.", microphone: "The microphone cannot be used. Allow it in the browser, and open the page by https or on localhost.",
    simple: "Direct", context: "With tools", persona: "In character", using: "Using {tool}", toolFailed: "{tool} did not work", details: "Details",
    firstToken: "first word", firstSpeech: "first sound", total: "in all", without: "without {what}", memories: "memories used: {count}",
    signInTitle: "Sign in", token: "Access token", signIn: "Sign in", wrongToken: "This token is not accepted.",
  },
  "zh-CN": {
    skip: "跳到输入框", conversations: "对话", close: "关闭", newConversation: "新对话", more: "显示更多",
    readAloud: "朗读回答", greeting: "想聊点什么？", hint: "输入消息，或点按麦克风说话。",
    suggestions: ["80 的 15% 是多少？", "用两句话解释光合作用", "现在几点？"],
    write: "输入消息", keys: "Enter 发送，Shift+Enter 换行", listening: "正在聆听…", discard: "放弃", speak: "说话",
    sendRecording: "停止并发送", stop: "停止", send: "发送", cancel: "取消", delete: "删除", deleteQuestion: "永久删除“{title}”？",
    noConversations: "还没有对话。", untitled: "无标题", you: "你", assistant: "Tertulia", ready: "就绪", starting: "正在启动…", busy: "正在回答…",
    away: "未连接", ahead: "排队中：前面还有 {ahead} 个", hearing: "正在记录你说的话…", silence: "没有听到声音，请大声一点或靠近一点再试。",
    retry: "重试", stopped: "已停止", unreachable: "无法连接服务端: {reason}", noAnswer: "没有回应", offline: "设备离线",
    timeout: "请求超时，AI 可能正在处理大量内容", broken: "回答尚未完成，连接就中断了。",
    unknown: "服务端出了点问题。", microphone: "无法使用麦克风。请在浏览器中允许，并通过 https 或 localhost 打开页面。",
    simple: "直接回答", context: "使用工具", persona: "角色口吻", using: "正在使用 {tool}", toolFailed: "{tool} 未成功", details: "详情",
    firstToken: "首字", firstSpeech: "首次发声", total: "总计", without: "缺少 {what}", memories: "使用的记忆：{count}",
    signInTitle: "登录", token: "访问令牌", signIn: "登录", wrongToken: "令牌无效。",
  },
  "zh-TW": {
    skip: "跳到輸入框", conversations: "對話", close: "關閉", newConversation: "新對話", more: "顯示更多",
    readAloud: "朗讀回答", greeting: "想聊些什麼？", hint: "輸入訊息，或點按麥克風說話。",
    suggestions: ["80 的 15% 是多少？", "用兩句話解釋光合作用", "現在幾點？"],
    write: "輸入訊息", keys: "Enter 傳送，Shift+Enter 換行", listening: "正在聆聽…", discard: "捨棄", speak: "說話",
    sendRecording: "停止並傳送", stop: "停止", send: "傳送", cancel: "取消", delete: "刪除", deleteQuestion: "永久刪除「{title}」？",
    noConversations: "還沒有對話。", untitled: "無標題", you: "你", assistant: "Tertulia", ready: "就緒", starting: "正在啟動…", busy: "正在回答…",
    away: "未連線", ahead: "排隊中：前面還有 {ahead} 個", hearing: "正在記錄你說的話…", silence: "沒有聽到聲音，請大聲一點或靠近一點再試。",
    retry: "重試", stopped: "已停止", unreachable: "無法連線到伺服器：{reason}。你的文字已保留。", noAnswer: "沒有回應", offline: "裝置離線",
    timeout: "請求逾時，回答可能很長。", broken: "回答尚未完成，連線就中斷了。",
    unknown: "伺服器出了點問題。", microphone: "無法使用麥克風。請在瀏覽器中允許，並透過 https 或 localhost 開啟頁面。",
    simple: "直接回答", context: "使用工具", persona: "角色口吻", using: "正在使用 {tool}", toolFailed: "{tool} 未成功", details: "詳細資料",
    firstToken: "首字", firstSpeech: "首次發聲", total: "總計", without: "缺少 {what}", memories: "使用的記憶：{count}",
    signInTitle: "登入", token: "存取權杖", signIn: "登入", wrongToken: "權杖無效。",
  },
  ja: {
    skip: "入力欄へ移動", conversations: "会話", close: "閉じる", newConversation: "新しい会話", more: "さらに表示",
    readAloud: "回答を読み上げる", greeting: "何について話しましょうか？", hint: "メッセージを入力するか、マイクを押して話してください。",
    suggestions: ["80の15%はいくつ？", "光合成を2文で説明して", "今何時？"],
    write: "メッセージを入力", keys: "Enterで送信、Shift+Enterで改行", listening: "聞いています…", discard: "破棄", speak: "話す",
    sendRecording: "止めて送信", stop: "停止", send: "送信", cancel: "キャンセル", delete: "削除", deleteQuestion: "「{title}」を完全に削除しますか？",
    noConversations: "まだ何もありません。", untitled: "無題", you: "あなた", assistant: "Tertulia", ready: "準備完了", starting: "起動中…", busy: "回答中…",
    away: "未接続", ahead: "順番待ち：あと{ahead}件", hearing: "聞き取った内容を書き起こしています…", silence: "聞こえませんでした。もう少し大きな声か近くで試してください。",
    retry: "再試行", stopped: "停止しました", unreachable: "サーバーに接続できません：{reason}。入力内容は残っています。", noAnswer: "応答なし", offline: "オフラインです",
    timeout: "時間切れです。回答がとても長いのかもしれません。", broken: "回答の途中で接続が切れました。",
    unknown: "サーバーで問題が起きました。", microphone: "マイクを使えません。ブラウザで許可し、httpsかlocalhostで開いてください。",
    simple: "直接回答", context: "ツール使用", persona: "役になりきり", using: "{tool}を使用中", toolFailed: "{tool}が失敗しました", details: "詳細",
    firstToken: "最初の文字", firstSpeech: "最初の音声", total: "合計", without: "{what}なし", memories: "使った記憶：{count}",
    signInTitle: "サインイン", token: "アクセストークン", signIn: "サインイン", wrongToken: "このトークンは使えません。",
  },
  ko: {
    skip: "입력란으로 이동", conversations: "대화", close: "닫기", newConversation: "새 대화", more: "더 보기",
    readAloud: "답변 소리로 듣기", greeting: "무슨 이야기를 할까요?", hint: "메시지를 쓰거나 마이크를 누르고 말하세요.",
    suggestions: ["80의 15%는 얼마야?", "광합성을 두 문장으로 설명해 줘", "지금 몇 시야?"],
    write: "메시지 입력", keys: "Enter로 보내기, Shift+Enter로 줄바꿈", listening: "듣는 중…", discard: "버리기", speak: "말하기",
    sendRecording: "멈추고 보내기", stop: "중지", send: "보내기", cancel: "취소", delete: "삭제", deleteQuestion: "“{title}”을(를) 완전히 삭제할까요?",
    noConversations: "아직 없습니다.", untitled: "제목 없음", you: "나", assistant: "Tertulia", ready: "준비됨", starting: "시작하는 중…", busy: "답변하는 중…",
    away: "연결 안 됨", ahead: "대기 중: 앞에 {ahead}개", hearing: "말씀을 받아 적는 중…", silence: "아무 소리도 듣지 못했어요. 조금 더 크게 또는 가까이에서 말해 주세요.",
    retry: "다시 시도", stopped: "중지됨", unreachable: "서버에 연결할 수 없습니다: {reason}. 쓰신 글은 남아 있습니다.", noAnswer: "응답 없음", offline: "오프라인",
    timeout: "시간이 초과되었습니다. 답변이 매우 길 수 있습니다.", broken: "답변이 끝나기 전에 연결이 끊겼습니다.",
    unknown: "서버에 문제가 생겼습니다.", microphone: "마이크를 쓸 수 없습니다. 브라우저에서 허용하고 https나 localhost로 여세요.",
    simple: "바로 답변", context: "도구 사용", persona: "역할 말투", using: "{tool} 사용 중", toolFailed: "{tool} 실패", details: "자세히",
    firstToken: "첫 글자", firstSpeech: "첫 소리", total: "전체", without: "{what} 없이", memories: "사용한 기억: {count}",
    signInTitle: "로그인", token: "액세스 토큰", signIn: "로그인", wrongToken: "이 토큰은 쓸 수 없습니다.",
  },
  de: {
    skip: "Zum Eingabefeld", conversations: "Gespräche", close: "Schließen", newConversation: "Neues Gespräch", more: "Mehr anzeigen",
    readAloud: "Antworten vorlesen", greeting: "Worüber wollen wir reden?", hint: "Schreib eine Nachricht oder tippe auf das Mikrofon und sprich.",
    suggestions: ["Wie viel sind 15 % von 80?", "Erkläre Photosynthese in zwei Sätzen", "Wie spät ist es?"],
    write: "Nachricht schreiben", keys: "Enter sendet, Umschalt+Enter beginnt eine neue Zeile", listening: "Ich höre zu …", discard: "Verwerfen", speak: "Sprechen",
    sendRecording: "Beenden und senden", stop: "Stopp", send: "Senden", cancel: "Abbrechen", delete: "Löschen", deleteQuestion: "„{title}“ endgültig löschen?",
    noConversations: "Noch nichts hier.", untitled: "Ohne Titel", you: "Du", assistant: "Tertulia", ready: "Bereit", starting: "Startet …", busy: "Antwortet …",
    away: "Nicht verbunden", ahead: "In der Schlange: {ahead} davor", hearing: "Schreibe auf, was du gesagt hast …", silence: "Ich habe nichts gehört. Versuch es noch einmal, etwas lauter oder näher.",
    retry: "Noch einmal", stopped: "Gestoppt", unreachable: "Server nicht erreichbar: {reason}. Dein Text bleibt erhalten.", noAnswer: "keine Antwort", offline: "dieses Gerät ist offline",
    timeout: "Zeitüberschreitung; die Antwort ist vielleicht sehr lang.", broken: "Die Verbindung brach ab, bevor die Antwort vollständig war.",
    unknown: "Auf dem Server ist etwas schiefgegangen.", microphone: "Das Mikrofon ist nicht nutzbar. Erlaube es im Browser und öffne die Seite über https oder localhost.",
    simple: "Direkt", context: "Mit Werkzeugen", persona: "In einer Rolle", using: "Verwendet {tool}", toolFailed: "{tool} hat nicht geklappt", details: "Details",
    firstToken: "erstes Wort", firstSpeech: "erster Ton", total: "insgesamt", without: "ohne {what}", memories: "genutzte Erinnerungen: {count}",
    signInTitle: "Anmelden", token: "Zugangstoken", signIn: "Anmelden", wrongToken: "Dieses Token wird nicht angenommen.",
  },
  es: {
    skip: "Ir al campo de mensaje", conversations: "Conversaciones", close: "Cerrar", newConversation: "Nueva conversación", more: "Mostrar más",
    readAloud: "Leer las respuestas en voz alta", greeting: "¿De qué hablamos?", hint: "Escribe un mensaje o toca el micrófono y habla.",
    suggestions: ["¿Cuánto es el 15 % de 80?", "Explica la fotosíntesis en dos frases", "¿Qué hora es?"],
    write: "Escribe un mensaje", keys: "Intro envía, Mayús+Intro empieza otra línea", listening: "Escuchando…", discard: "Descartar", speak: "Hablar",
    sendRecording: "Terminar y enviar", stop: "Detener", send: "Enviar", cancel: "Cancelar", delete: "Eliminar", deleteQuestion: "¿Eliminar «{title}» para siempre?",
    noConversations: "Aún no hay nada.", untitled: "Sin título", you: "Tú", assistant: "Tertulia", ready: "Listo", starting: "Iniciando…", busy: "Respondiendo…",
    away: "Sin conexión", ahead: "En cola: {ahead} delante", hearing: "Anotando lo que dijiste…", silence: "No oí nada. Inténtalo de nuevo, un poco más alto o más cerca.",
    retry: "Reintentar", stopped: "Detenido", unreachable: "No se puede conectar con el servidor: {reason}. Tus palabras se conservan.", noAnswer: "sin respuesta", offline: "este dispositivo no tiene conexión",
    timeout: "Se agotó el tiempo; quizá la respuesta es muy larga.", broken: "La conexión se cortó antes de completar la respuesta.",
    unknown: "Algo falló en el servidor.", microphone: "No se puede usar el micrófono. Permítelo en el navegador y abre la página por https o en localhost.",
    simple: "Directa", context: "Con herramientas", persona: "En personaje", using: "Usando {tool}", toolFailed: "{tool} no funcionó", details: "Detalles",
    firstToken: "primera palabra", firstSpeech: "primer sonido", total: "en total", without: "sin {what}", memories: "recuerdos usados: {count}",
    signInTitle: "Iniciar sesión", token: "Token de acceso", signIn: "Entrar", wrongToken: "Este token no es válido.",
  },
  fr: {
    skip: "Aller au champ de message", conversations: "Conversations", close: "Fermer", newConversation: "Nouvelle conversation", more: "Afficher plus",
    readAloud: "Lire les réponses à voix haute", greeting: "De quoi parlons-nous ?", hint: "Écrivez un message, ou touchez le micro et parlez.",
    suggestions: ["Combien font 15 % de 80 ?", "Explique la photosynthèse en deux phrases", "Quelle heure est-il ?"],
    write: "Écrire un message", keys: "Entrée envoie, Maj+Entrée va à la ligne", listening: "J’écoute…", discard: "Abandonner", speak: "Parler",
    sendRecording: "Arrêter et envoyer", stop: "Arrêter", send: "Envoyer", cancel: "Annuler", delete: "Supprimer", deleteQuestion: "Supprimer définitivement « {title} » ?",
    noConversations: "Rien pour l’instant.", untitled: "Sans titre", you: "Vous", assistant: "Tertulia", ready: "Prêt", starting: "Démarrage…", busy: "Réponse en cours…",
    away: "Non connecté", ahead: "En attente : {ahead} avant vous", hearing: "Je note ce que vous avez dit…", silence: "Je n’ai rien entendu. Réessayez, un peu plus fort ou plus près.",
    retry: "Réessayer", stopped: "Arrêté", unreachable: "Serveur injoignable : {reason}. Votre texte est conservé.", noAnswer: "pas de réponse", offline: "cet appareil est hors ligne",
    timeout: "Délai dépassé ; la réponse est peut-être très longue.", broken: "La connexion s’est coupée avant la fin de la réponse.",
    unknown: "Un problème est survenu sur le serveur.", microphone: "Micro inutilisable. Autorisez-le dans le navigateur et ouvrez la page en https ou sur localhost.",
    simple: "Directe", context: "Avec outils", persona: "Dans un rôle", using: "Utilise {tool}", toolFailed: "{tool} n’a pas fonctionné", details: "Détails",
    firstToken: "premier mot", firstSpeech: "premier son", total: "au total", without: "sans {what}", memories: "souvenirs utilisés : {count}",
    signInTitle: "Connexion", token: "Jeton d’accès", signIn: "Se connecter", wrongToken: "Ce jeton n’est pas accepté.",
  },
  pt: {
    skip: "Ir para o campo de mensagem", conversations: "Conversas", close: "Fechar", newConversation: "Nova conversa", more: "Mostrar mais",
    readAloud: "Ler as respostas em voz alta", greeting: "Sobre o que vamos conversar?", hint: "Escreva uma mensagem ou toque no microfone e fale.",
    suggestions: ["Quanto é 15% de 80?", "Explique a fotossíntese em duas frases", "Que horas são?"],
    write: "Escreva uma mensagem", keys: "Enter envia, Shift+Enter começa outra linha", listening: "Ouvindo…", discard: "Descartar", speak: "Falar",
    sendRecording: "Parar e enviar", stop: "Parar", send: "Enviar", cancel: "Cancelar", delete: "Excluir", deleteQuestion: "Excluir “{title}” para sempre?",
    noConversations: "Nada aqui ainda.", untitled: "Sem título", you: "Você", assistant: "Tertulia", ready: "Pronto", starting: "Iniciando…", busy: "Respondendo…",
    away: "Sem conexão", ahead: "Na fila: {ahead} à frente", hearing: "Anotando o que você disse…", silence: "Não ouvi nada. Tente de novo, um pouco mais alto ou mais perto.",
    retry: "Tentar de novo", stopped: "Parado", unreachable: "Não foi possível falar com o servidor: {reason}. Suas palavras foram guardadas.", noAnswer: "sem resposta", offline: "este aparelho está offline",
    timeout: "O tempo acabou; talvez a resposta seja muito longa.", broken: "A conexão caiu antes de a resposta terminar.",
    unknown: "Algo deu errado no servidor.", microphone: "Não é possível usar o microfone. Permita no navegador e abra a página por https ou em localhost.",
    simple: "Direta", context: "Com ferramentas", persona: "No papel", using: "Usando {tool}", toolFailed: "{tool} não funcionou", details: "Detalhes",
    firstToken: "primeira palavra", firstSpeech: "primeiro som", total: "no total", without: "sem {what}", memories: "memórias usadas: {count}",
    signInTitle: "Entrar", token: "Token de acesso", signIn: "Entrar", wrongToken: "Este token não é aceito.",
  },
  ru: {
    skip: "К полю сообщения", conversations: "Беседы", close: "Закрыть", newConversation: "Новая беседа", more: "Показать ещё",
    readAloud: "Читать ответы вслух", greeting: "О чём поговорим?", hint: "Напишите сообщение или нажмите на микрофон и говорите.",
    suggestions: ["Сколько будет 15% от 80?", "Объясни фотосинтез в двух предложениях", "Который час?"],
    write: "Напишите сообщение", keys: "Enter — отправить, Shift+Enter — новая строка", listening: "Слушаю…", discard: "Отменить запись", speak: "Говорить",
    sendRecording: "Закончить и отправить", stop: "Стоп", send: "Отправить", cancel: "Отмена", delete: "Удалить", deleteQuestion: "Удалить «{title}» навсегда?",
    noConversations: "Пока ничего нет.", untitled: "Без названия", you: "Вы", assistant: "Tertulia", ready: "Готов", starting: "Запускается…", busy: "Отвечает…",
    away: "Нет связи", ahead: "В очереди: впереди {ahead}", hearing: "Записываю сказанное…", silence: "Ничего не слышно. Попробуйте ещё раз, чуть громче или ближе.",
    retry: "Повторить", stopped: "Остановлено", unreachable: "Нет связи с сервером: {reason}. Ваш текст сохранён.", noAnswer: "нет ответа", offline: "устройство не в сети",
    timeout: "Время вышло; возможно, ответ очень длинный.", broken: "Связь прервалась до конца ответа.",
    unknown: "На сервере что-то пошло не так.", microphone: "Микрофон недоступен. Разрешите его в браузере и откройте страницу по https или на localhost.",
    simple: "Сразу", context: "С инструментами", persona: "В роли", using: "Использует {tool}", toolFailed: "{tool}: не получилось", details: "Подробности",
    firstToken: "первое слово", firstSpeech: "первый звук", total: "всего", without: "без {what}", memories: "использовано воспоминаний: {count}",
    signInTitle: "Вход", token: "Токен доступа", signIn: "Войти", wrongToken: "Этот токен не принят.",
  },
};

/** The page's language: one of the keys above. */
export const language = navigator.languages.map(known).find(Boolean) ?? "en";

/** Return a text with its `{gaps}` filled. */
export function say(key, values = {}) {
  const text = TEXTS[language][key] ?? TEXTS.en[key];
  return Array.isArray(text) ? text : text.replace(/\{(\w+)\}/g, (gap, name) => values[name] ?? gap);
}

/** Fill the page's own elements. */
export function fillPage(page) {
  page.documentElement.lang = language;
  for (const node of page.querySelectorAll("[data-text]")) node.textContent = say(node.dataset.text);
  for (const node of page.querySelectorAll("[data-label]")) label(node, say(node.dataset.label));
  for (const node of page.querySelectorAll("[data-placeholder]")) node.placeholder = say(node.dataset.placeholder);
}

/** Name a control for eyes and ears alike. */
export function label(node, text) {
  node.setAttribute("aria-label", text);
  if (node.tagName === "BUTTON") node.title = text;
}

function known(tag) {
  const [main] = tag.split("-");
  if (main === "zh") return /hant|tw|hk|mo/i.test(tag) ? "zh-TW" : "zh-CN";
  return Object.hasOwn(TEXTS, main) ? main : null;
}
