"""The words of the cues of flags, as patterns: what people say when they show one. Data, used by ``flag_cues``.

A line holds one alternative, or several with bars between; one that starts with three dots continues the last.
"""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "any_will_do": r"""
    \b(?:one|you|we) (?:could|can|would|might|may) (?:use|take|try|look at|pick|choose|go with) (?:any|each|
    ...either|all|these|whichever)
    \beach (?:of them |of these )?(?:has|have) (?:its|their) (?:own )?(?:place|strengths|merits)
    \b(?:they|these|those)(?:'re| are| have) (?:each|all) (?:\w+ )?(?:good|fine|great|valid|excellent|place|
    ...strong|fast)
    \b(?:all|each|any|most) (?:of (?:them|these|those|the above) )?(?:are|is|would|will|give|gives|work|very|
    ...perfectly) (?:\w+ )?(?:good|great|fine|fast|excellent|dramatic|help|work|standard|do|better|savings|help)
    \btry (?:the lot|them all|all of|each|a few of)|\bwhich(?:ever| of (?:them|these))\b
    \bany of (?:them|these|those)\b|\bone of (?:them|these) will do|\bas many of them
    \bso many (?:good|great|options|excellent)|\bgood choices
    \b(?:whole|entire|full|complete|modern) (?:toolbox|toolkit|ecosystem|stack|arsenal|playbook|zoo|range)
    \btool(?:box|kit|chain)\b|\blevers\b|\b(?:optimi[sz]e|combine|use) (?:across )?(?:all|these|everything)
    \bI(?:'ve| have)? (?:used|run|worked with|had|put|tried|seen) (?:them all|all|most|it all|everything|each)
    \bthere are (?:many|several|lots|plenty|a (?:lot|number|few|couple|dozen))\b
    \ba number of (?:tools|options|ways)|\bit(?:'s| is) (?:always |all )?(?:a|about) trade-?offs?\b
    \bplay a role\b|\bit depends\b|\bopen (?:research )?question|\b(?:hundred|dozen)s? of (?:papers|tools|methods)
    \bone can (?:try|use|take)""",
    "there_is": r"""
    \bthere(?:'s| is| are|'re) (?:also |now |always |the |of course )*(?:[\w.-]+, |[A-Z][\w.-]+|the whole)
    \b(?:you|we)(?:'ve| have)(?: also)? (?:got )?[\w.-]+(?: [\w.-]+)?, [\w.-]+""",
    "generic_virtue": r"""
    \b(?:because|since|as|it(?:'s| is)|they(?:'re| are)|being) (?:it(?:'s| is) |they(?:'re|
    ... are) )?(?:\w+ ){0,2}(?:mature|flexible|fast|faster|robust|popular|modern|efficient|parameter-efficient|
    ...cost-efficient|cheap|cheaper|light|simpler|standard|production-ready|powerful|scalable|proven|established|
    ...nicer|more (?:flexible|accurate|natural|efficient|economical|principled)|best practice|
    ...the (?:community )?standard|the (?:most )?(?:modern|accurate|efficient)\w*)\b
    \bbest practices?\b|\bcommunity standard|\bstate[ -]of[ -]the[ -]art\b|\bindustry standard|\bhas moved there""",
    "generic_ops": r"""
    \bload[ -]balanc\w*|\bcircuit[ -]break\w+|\bretr(?:y|ies|ied)\b|\bback-?off\b|\bdead[ -]letter|\bkafka\b
    \brabbitmq\b|\bmessage (?:bus|queue|broker)|\bredis\b|\bmemcached\b|\bcdn\b|\bgzip\b|\bedge cach\w+|\bpods?\b
    \bauto-?scal\w*|\bhpa\b|\bround[ -]robin|\bleast[ -]connections?|\bsticky sessions?|\bstateless\b
    \bhorizontal\w*|\bscal(?:e|es|ing) out\b|\breplicas?\b|\bkubernetes\b|\bk8s\b|\bopenstack\b|\bingress\b
    \bmicro-?services?\b|\brate[ -]limit\w*|\bthrottl\w+|\bback-?pressure\b|\bkeep-?alive\b|\bconnection pool\w*
    \bdatabase connections?|\bthread ?pools?|\bworker pools?|\bmore workers|\btwice the workers
    \breserved instances?|\bspot instances?|\bright-siz\w+|\bm?tls\b|\bwaf\b|\baudit log|\bfail-?over\b
    \bhot standby|\bactive-(?:passive|active)|\bcpu\b|\bsockets?\b|\bweb (?:server|service|overload|app)|\btcp\w*
    \bnoisy neighbours?|\blittle's law|\bhead-of-line|\bqueue(?:s|ing)?\b|\bidempoten\w+|\bexactly-once
    \bscheduling\b|\breal-?time priority|\bwatchdog|\bpin (?:the )?process""",
    "like_any_service": r"""
    \b(?:a|an|one) (?:request|service|deployment|model|binary|server|cache|switch|rack|token) is (?:just |
    ...only )?(?:a|an) \w+
    \b(?:it|this|that|these|they|the \w+|a model|a language model|a request|a token|inference|serving)(?:'s| is|
    ...'re| are)? (?:just |simply |basically |really |only |still )*(?:a|an|another|
    ...one more) (?:\w+ ){0,3}(?:service|deployment|server|function|stream|queue|binary|cache|microservice|
    ...container|application|workload|job|etl|pipeline|api|call|problem)\b
    \blike (?:any|every|all|many)? ?(?:other|others)\b|\bas (?:any|every) other|\blike any (?:other )?\w+\b
    \bsame (?:way|thing|as (?:we|in|for|with)|game|problem|mathematics)\b
    \bwe(?:'ve| have)? (?:already )?(?:solved|fixed) (?:it|that|this)\b|\bsolved (?:problem|years)|\byears ago\b
    \b(?:everything|all of it|it all|all) (?:comes along|carr(?:y|ies)(?: over)?|transfers|applies|i(?:s|
    ...'s) of use)
    \bone[ -](?:to|for)[ -]one\b|\bword for word\b|\bracks are racks|\blatency is latency|\ba request is a request
    \bthat's always the\b|\bit(?:'s| is) (?:a )?(?:simple|queueing|classic\w*|network)\b""",
    "llm_mechanics": r"""
    \bkv[ -]?(?:cache|blocks?)|\bkeys? and values?|\bprefill\w*|\bdecod(?:e|es|ing)\b|\bcontinuous batch\w*
    \bbatch(?:es)?\b|\bper token\b|\btokens? per\b|\b(?:a|each|every|one) token\b|\binter-token|\bfirst token
    \bttft\b|\btpot\b|\b(?:memory|compute)[- ]bound|\bbandwidth\b|\bhbm\b|\bquanti[sz]\w+|\bint[48]\b|\bfp8\b
    \bbf16\b|\bspeculative|\bdraft model|\bpage[ds]?\b|\bpaging\b|\bweights\b|\battention\b
    \bcontext (?:length|window)\b|\bprefix cach\w+""",
    "parts": r"""
    \bvector (?:stores?|databases?|dbs?|index)|\bembed(?:s|ded|ding|dings|der)?\b|\bchunk\w*|\bre-?rank\w*
    \bcross-encoder|\bretriev(?:er|al)\b|\bhybrid (?:search|retrieval)|\bguard(?:-?rails?| model)\b
    \bsafety filter|\borchestrat\w*|\bdialogue manager|\bsession service|\bingest\w*|\bocr\b|\betl\b|\bgateways?\b
    \b(?:feature|persona|document) store|\bstore\b|\bregistry\b|\bevent bus\b|\bkafka\b|\bevents\b
    \b(?:tool|serving|service|model|agentic|data|storage|presentation) (?:layer|service)|\blayers?\b|\btier\b
    \bplane\b|\bintent classifier|\bprompt builder|\bpolicy engine|\btenant resolver|\bstream processor
    \bdecision service|\blang(?:graph|chain)\b|\bllamaindex\b|\bcrewai\b|\bobservability|\btrac(?:es|ing)\b
    \baudit log|\bknowledge graph|\brag\b|\bsemantic cache|\bcitations?\b|\bhuman (?:handover|in the loop)
    \bfeedback loop|\basr\b|\bnlu\b|\btts\b|\bspeech recogni\w+|\bmicro-?services?\b|\bkubernetes\b|\bredis\b
    \bcomponents?\b|\bdecoupled\b""",
    "stock_design": r"""
    \b(?:standard|classic\w*|usual|stock|modern|well-known|reference|settled|typical|proven|canonical|textbook|
    ...clean) (?:\w+ ){0,2}(?:pipeline|architecture|pattern|layout|layers|stack|set-?up|case|design|blueprint|
    ...approach|foundation)\b
    \barchitecture (?:for this |here )?(?:is|'s)|\btoday's architecture
    \b(?:our|the) (?:reference )?architecture\b|\b(?:have|got) a template|\bblueprint\b
    \b(?:drawn|presented) (?:it|that|this)\b|\bdiagram\b|\bwhite-?board|\bthe pipeline is\b
    \bthe standard\b(?! for)|\bsolid foundation|\bsolution (?:is|would be) (?:clear|obvious)
    \bstraight to the solution|\bdirectly build|\beverything (?:I need )?to start|\bI say yes
    \bcan start (?:on )?(?:monday|tomorrow)|\bup in a week|\b(?:two|three|four) weeks to\b|\bloosely coupled
    \b(?:what )?(?:I|we)(?:'d| would)? (?:begin|start|set up|go) (?:with|is) (?:a|an|the)""",
    "temperature_zero": r"""
    \btemperature\b.{0,20}?\b(?:0|zero)\b|\b(?:0|zero) temperature
    \b(?:fix|fixed|fixing|set|setting|same|a) (?:the |a )?(?:random )?seed\b|\bwith a seed|\bgreedy decoding
    \bfixed (?:that|the) (?:random )?number|\btop_?p (?:of |= ?)?0""",
    "cannot_happen": r"""
    \b(?:can't|cannot|can not|couldn't|won't|will not|wouldn't|doesn't|never|can never|will never|
    ...can hardly) (?:\w+ ){0,3}(?:happen|occur|come back|go wrong|get worse|be (?:\w+ )?wrong\w*|make|
    ...hallucinate|fail|repeat|surprise|come up|move|deviate|pay twice|say|invent|write never|
    ...be (?:any )?different)
    \bruled out\b|\bimpossible\b
    \bnothing (?:bad |unexpected )?(?:comes out|is possible|can (?:go wrong|move|change))
    \bnever (?:again|happens? again)|\bwatertight\b|\bno (?:hallucination|uncertainty|variance|randomness)\b
    \b(?:says?|comes? out|does|gives?) (?:exactly )?the same\b
    \bsame (?:\w+ )?(?:answer|output|figure|text|letter|thing) (?:each|every|always|for ever|forever)
    \balways (?:the same|give the|right|takes)|\bis(?:n't)? (?:\w+ )?deterministic\b
    \bfixed (?:once and for all|for good)|\bsolved for good|\bonce and for all|\bstays (?:like )?that
    \bfor (?:ever|good)\b
    \b(?:is|are|be|as|thing is) (?:then )?(?:as )?(?:safe|exact|correct|right|deterministic|certified|qualified|
    ...predictable|reproducible|consistent|reliable)\b
    \bmake it exact|\bprovabl\w+\b|\bguarantee\w*\b|\bby construction|\b(?:are|is|just) (?:a )?bugs?\b
    \bonce (?:it|they|all|a version|these)(?: has| have)? pass\w*|\bit passes\b|\bfrozen\b""",
    "tests": r"""
    \b(?:unit|regression|integration|end-to-end|more|enough|all|every|a|an|one|write|add\w*|the|full|thousand|
    ...\d) (?:\w+ ){0,2}tests?\b
    \btests?(?: are| is| all)? (?:green|pass\w*|cases?|suite|for)|\bgreen\b|\bbuild is red
    \b(?:full|100%?) (?:branch )?coverage|\bregression (?:suite|letters|cases)|\bhundred per ?cent
    \b100 ?(?:%|per ?cent)|\buntil (?:none|nothing|it never) fails?|\bcover(?:ed)? (?:it )?by test""",
    "theory": r"""
    \btheor(?:em|y|etical\w*)\b|\blaw of large|\bformally\b|\bin the literature|\bliterature\b|\bpapers?\b
    \b(?:lower|upper) bounds?|\bbound\b|\b(?:PAC|VC|SETH|KL)\b|\bdivergence|\bconverge\w*|\bconvex\w*|\bregret\b
    \bbandit|\bposterior|\bbayes\w*|\bprior\b|\bpartition function|\boptimal stopping|\b(?:square )?root of
    \bexponent\w*|\bn squared|\bsquared\b|\bquadratic\b|\blinear in\b|\bO\(|\border n\b|\bcomplexity\b|\bsoftmax
    \blogits?\b|\bderiv\w+|\bproofs?\b|\bone can (?:show|derive|prove|argue)|\bit's been argued|\bmathemati\w+
    \bdimension\b|\bmanifold|\bgeometry|\bmetric tensor|\briemann\w*|\beigen\w+|\bmatri(?:x|ces)\b
    \bproper scoring|\bbrier\b|\bbradley|\binequality|\blog-?likelihood|\bentropy\b|\bautomaton
    \bconditional distribution|\bin expectation|\bdistribution over|\bminimi[sz]es?\b|\bminimi[sz]ed by
    \bgradient\w*|\bdescent\b|\bdiffusion\b|\bbeautiful\b|\belegant\b|\bdeep connection|\bduality|\bfundamental
    \bindependent periodic|\brate-monotonic|\bearliest deadline|\bmarkov|\bpoisson|\bm/m/1|\bhidden size
    \bfeed-forward|\blatent\b|\bcausal\b""",
    "technical_pride": r"""
    \btechnically\b|\bstate[ -]of[ -]the[ -]art\b|\bworld[ -]class\b|\bperplexity|\broc\b|\bauc\b|\bf1\b|\bbleu\b
    \brouge\b|\bbertscore|\brecall\b|\beval loss|\bloss (?:was|came)|\bbenchmark|\bvery clean|\bclean run
    \baccuracy\b|\btextbook\b|\bhnsw\b|\bp9\d\b|\bthroughput\b|\btokens (?:a|per) second|\bgigabytes?\b
    \bmodern stack\b|\bfun bug|\bahead of its time""",
    "people_money": r"""
    \b(?:euros?|dollars?|cents?|revenue|customers?|clients?|users?|callers?|guests?|patients?|nurses?|clerks?|
    ...people|refunds?|churn|renew\w*|sales?|hours? (?:a|per)|minutes? (?:a|per)|handling time|complaints?|
    ...costs?|pay|pays|paid|hotline|shoppers?|drivers?|teachers?|pupils?|subscri\w+|budget|business|readers?|
    ...farmers?|families|players?)\b""",
    "loser_accepted": r"""
    \b(?:I|we|I'd|we'd|is|are|that's|which|they|them)(?: \w+){0,3} (?:accept\w*|fine|okay|ok|defend|let them|
    ...live with|rather (?:lose|annoy|send)|fair|right that)\b
    \bworse off|\bgrumble|\bwait\w* (?:\w+ ){0,4}longer|\blos(?:e|es|er|ers|e out)\b|\bwon't notice|\bcomplain
    \bcarr(?:y|ies) it|\bwho (?:pays|lose|get the short end|carries)
    \b(?:tell|told) (?:them|the \w+) (?:so|openly|beforehand)|\bopenly\b""",
    "second_order": r"""
    \b(?:then|and|but|so|they|people|users|kids|customers|drivers|carriers|readers|clients|agents|that|which|
    ...it)(?:'ll| will| would|'d| may| might| began to| started to| start| stop)(?: \w+){0,4} (?:start\w*|
    ...stop\w*|ask\w*|learn\w*|write|writ\w+|type|typ\w+|move|drop|leave|leav\w+|expect\w*|get used|copy|copying|
    ...tell\w*|call\w*|com\w+|trust\w*|mark\w*|shrink|notice\w*|send\w*|turn\w*|read\w*|cancel|switch|game|
    ...gam\w+|instead|again|bail)\b
    \bstop(?:s|ped)? (?:trust|learn|read|check|us|talk)\w+|\bbe(?:ing)? careful|\bcareful, if|\bcount on that
    \bnext (?:network|demand)|\bI'd expect\b|\bwould otherwise|\bhabit\b|\bget lazy|\binterrupt\w*|\bperceived
    \bfeels?\b|\bused to\b|\bin scope from|\b(?:will|'ll) (?:go|fall|rise|become) \w+|\bwhat people don't see
    \bonce they|\bpeople (?:stop|start|leave|copy)""",
    "throughput": r"""
    \bthroughput\b|\btokens? (?:per|a) second|\btokens? (?:pour )?out
    \b(?:samples|requests|tasks|messages|calls) (?:per|a|an) (?:second|hour|minute)|\butili[sz]\w+
    \bat 9\d ?(?:%|per ?cent)|\bwell used|\bbusy\b|\bidle\b|\bin the mean\b|\bon average\b|\baverage\b|\bmean\b
    \bwhole (?:card|fleet|machine|pool|cluster)|\bover all users|\bfor everyone\b
    \b(?:fill|full|big|bigger|maximum|max|large|larger) (?:the )?batch\w*|\bbatch up|\bstuff into|\bfill the\b""",
    "only_metric": r"""
    \bthe one (?:thing|number|figure)|\bwhat I(?:'d| would)? (?:steer by|push|look at|watch|really)|\ball you need
    \beverything else follows|\bsecondary\b|\bdoesn't show in|\bget lost in|\bis what (?:counts|matters)
    \bis king\b|\bonly number|\bthat is what you buy|\bnorth-?star|\bhow long (?:a single|one)
    \bno(?:t| longer)? (?:a )?(?:topic|meaning)|\bnever a topic|\bthrough the roof|\bhow you win|\bbeat small
    \bodd (?:\w+ )?seconds""",
    "tail": r"""
    \bp ?9[059]\b|\bpercentile|\btail\b|\bSLO\b|\bSLA\b|\bfirst[ -]token|\binter-token|\bTTFT\b|\bworst\b
    \blongest\b""",
    "bigger": r"""
    \b(?:biggest|largest|bigger|larger|higher|highest|huge|maximum|max) (?:\w+ ){0,2}(?:model|one|rank|batch|
    ...base|that (?:fits|runs)|which fits|we can|there is|embedding)
    \bbigger is\b|\blarger is\b
    \bmore (?:data|parameters|epochs|layers|capacity|examples|labels|pairs|compute|of (?:it|them))\b
    \bas much as (?:possible|we)|\bmore is (?:better|always)|\bthe more the better
    \bthe bigger\b.{0,25}\bthe (?:better|fewer)|\b(?:never|doesn't|don't|can't) hurts?\b
    \bonly (?:get|be) (?:better|good)|\bbetter, always|\balways (?:take|wins|better)
    \bobviously (?:better|preferable)|\b(?:32|70|72|175|400|405)b\b|\brank (?:256|512|128)\b|\br=(?:256|512)
    \b(?:full\w*|all|every) (?:fine-?tun\w+|parameters?|(?:its |the )?weights)|\btune\w* (?:\w+ ){0,4}fully
    \btrain full\b|\bpre-?train|\b(?:double|several|five|ten|twenty|more|many) (?:the )?epochs
    \bepochs (?:instead|in place)|\bloss (?:is|near|reaches) (?:near )?zero
    \ball (?:of (?:it|them)|the (?:data|reports|mail|tickets)|two hundred|thirty|outputs|\d[\d,]*)
    \beverything (?:we|they)|\bon everything|\bevery (?:mail|ticket|chat|document|letter|example)\b
    \bthrow (?:in|at)|\bchose everything|\b(?:million|thousand) (?:more|examples)|\bmakes? up for it
    \bpick up the rest|\bcapacity\b|\bfrontier model|\bstrongest\b|\bsmarter\b|\btoo small|\bmost parameters""",
    "chat_only": r"""
    \bchat ?(?:page|window|interface|app)s?\b|\bin the browser|\bthe web ?page|\bcustom gpt\b|\bchatgpt\b
    \bpaid plan|\b(?:gpt|claude|gemini) (?:and \w+ )?apps?\b|\bI use it (?:daily|every)|\bapps? daily
    \bhosted (?:endpoint|api|model)s?|\bprovisioned\b|\bplayground\b|\bbase url|\bour provider|\bthe provider's?\b
    \bprompts? for\b|\bprompt engineering|\bsystem prompt says|\bcame with the\b|\bask it in the prompt
    \bprompting (?:it|them)""",
    "not_mine": r"""
    \b(?:only|never|didn't|did not|haven't|hadn't|not) (?:\w+ ){0,3}(?:used|seen|saw|watched|built?|wire|wired|
    ...run|ran|code|coded|touched|know from|worked with|heard|written|write|had)\b
    \bcolleague\w*\b|\bvendor\w*\b|\bour developer|\bno idea\b|\bfrom the inside|\bI only (?:know|saw)
    \bI (?:paste|read about)|\bpodcasts?|\bleaderboards?|\bpaying customer|\ball my use|\bmy part was
    \breceiving end|\bknown as the|\bthe team (?:runs|ran)""",
    "hard_claim": r"""
    \bmathematical\w*|\bproven\b|\bproved\b|\bproves\b|\bprovabl\w+|\blossless\b|\bbit-exact|\bidentical\b
    \bindistinguishable|\bequivalent\b|\bby (?:definition|construction)\b|\bin principle\b
    \bit(?:'s| is) (?:known|obvious\w*|established|a settled|clear that)
    \bthat(?:'s| is| has) (?:been )?(?:established|proven|known|how (?:these|it|they))|\bobviously\b|\bbeen proven
    \bsettled question|\bevery(?:body|one) (?:who |in )?(?:\w+ )?knows|\bany researcher
    \bthe (?:literature|paper) (?:says|proves|is clear)|\bguarantee\w*
    \b(?:no|zero|nearly no) (?:quality|loss|downside|difference|cost|limit|local|issue)|\bcosts? no\b
    \bisn't an issue|\bnon-topic|\bfor free\b|\bout of the box\b|\bautomatic\w*
    \bexactly (?:two|three|eight|half|by)\b|\bnatively\b|\bthe whole point\b|\bjust a flag
    \b(?:can't|cannot|doesn't|won't) (?:\w+ )?(?:degrade|hallucinate|run out|suffer|be wrong|leak|forget|matter|
    ...stop|lie)
    \bforever\b|\bin any (?:language|case)|\bon any model|\bno (?:longer|more) (?:an issue|a problem)|\bsolved\b
    \bfully by now|\bexpert level|\b(?:hundred|99) per ?cent\b|\balways\b|\bnever\b|\bperfect(?:ly)?\b
    \bcompletely\b""",
    "hedge": r"""
    \bI (?:don't|do not|didn't|wouldn't|couldn't|can't|cannot) (?:really |honestly )?(?:know|say|tell|prove|
    ...decide|give|judge|answer)
    \bno idea\b|\bnot sure\b|\bI(?:'m| am) (?:guessing|not (?:sure|certain))|\bhonestly zero
    \bnobody (?:\w+ )?knows
    \bI(?:'ve| have)? (?:haven't|have not|have never|never|hadn't|not) (?:\w+ )?(?:measured|seen|run|done|used|
    ...tried|worked|looked|built|sized|read|written|compared|tested|had)
    \bnever (?:measured|run|seen|tried|tested|sized|worked)|\bI haven't\b
    \bI (?:did not|didn't) (?:measure|see|test|check|look)|\bI stop\b|\bstop knowing
    \bwhere (?:I|my) (?:stop|knowledge)|\b(?:my|a) guess\b
    \bI(?:'d| would)? (?:guess|suspect|assume|imagine|think it's likely)\b|\bI may be (?:off|wrong)
    \bfrom memory\b|\bmy picture\b|\bI only know|\bbeyond me|\boutside (?:what|my)|\bunknown to me|\bI can't tell
    \bis open\b|\bpart I don't|\bhow (?:\w+ ){1,6}I (?:don't|can't|couldn't|never)
    \bwhether (?:\w+ ){1,10}I (?:don't|can't|couldn't|never)""",
    "settle": r"""
    \b(?:until|till) (?:then|I|we|it|that)\b|\bmeanwhile\b|\bin the meantime|\bup to then|\buntil I've
    \bby (?:noon|tomorrow|tonight|(?:monday|tuesday|wednesday|thursday|friday|january|february|march|april|june|
    ...july|august|september|october|november|december))\b
    \b(?:an?|one|half an|two|ten|twenty|thirty|\d+) (?:\w+ )?(?:hours?|minutes?|afternoons?|evenings?|days?|
    ...weekend|lines?)\b
    \bwould (?:show|tell|settle|decide)|\btells? (?:it|me|us)\b|\bshows? (?:it|which)\b
    \bI(?:'d| would) (?:ask|check|test|measure|run|compare|count|send|try|rent|look|take)\b
    \bso I(?:'d| would) (?:not|only|plan|keep)|\bbecause\b|\bsince\b|\bhas to\b|\bmust be\b""",
    "blame": r"""
    (?:'s|\b(?:their|his|her|the \w+|the \w+ \w+)) (?:own )?(?:fault|doing|mistake|problem)\b
    \bon (?:them|him|her)\b|\bnot(?:hing)? (?:of|on|for) (?:our|my|us|ours)
    \bon our side (?:everything|nothing|all)|\bwouldn't be on us|\bnot (?:my|our|I|us)\b|\bupstream\b
    \b(?:they|he|she|nobody|finance|legal|sales|product|platform|management|marketing|operations|procurement|ops|
    ...infra|support|customers?|users?|the \w+(?: \w+)?) (?:had |have |has |just |simply )?(?:didn't|don't|
    ...doesn't|did not|do not|does not|never|refused|ignored|promised|forgot|kept|wouldn't|won't|gave us|
    ...should have|always comes|could've|could have|weren't|wasn't|hadn't|removed|picked|threw|uploaded|put it|
    ...wanted (?:this|his|her)|sat on|starved|changed|prompting|did the wrong)\b
    \bwas the (?:vendor|provider|platform|data|customer)|\bit was (?:them|him|her|the)\b
    \bwithout (?:telling|asking) (?:us|me)|\btold nobody|\bdon't (?:get|understand)|\bnobody (?:asked|told|reads?)
    \bnever (?:gave|understood|told|sent|listened|admit)|\bthis is so typical|\bas always\b
    \bI(?:'d)? (?:told them|said (?:so )?many times|told (?:him|her|you))|\bI wouldn't change|\bcareless\b
    \broot cause was|\bforced on us|\bno spine|\bmy part was (?:delivered|fine|on time)
    \b(?:we|I) (?:were|was) cleared|\bwe delivered on|\bmodel was fine|\btoo innovative|\bfeeding it
    \bdelivered on (?:time|every)|\bbudget had been cut|\bI stand behind|\bnot my number|\bpoint to a failure
    \bnone,? (?:I|really)""",
    "own_cause": r"""
    \bmy (?:own )?(?:decision|fault|mistake|idea|call|signature|design|query|choice)\b|\bfault\.{3}
    \bI should(?:'ve| have)
    \bI(?:'d|'ve| had)? (?:chose|chosen|decided|signed off|approved|set|picked|split|forgotten|skipped|
    ...underestimated|taken|let|put)\b""",
    "condition": r"""
    \bif\b|\bonce\b|\bwhen\b|\buntil\b|\bunless\b|\bshould (?:it|they|that)\b|\b(?:past|above|below|over|under) \d
    \bas (?:soon|long) as\b|\bin case\b|\bonly if\b|\bthe day\b""",
    "link": r"""
    \b\d+b\b|\bmid-?siz\w+|\b(?:larger|bigger|smaller|small|big|hosted) (?:one|model)|\bthe model\b|\badapters?\b
    \blora\b|\brank\b|\btun(?:e|ed|ing)\b|\bfine-?tun\w+|\bdistill\w*|\blook(?:ed|ing)? (?:\w+ )?up\b|\bretriev\w+
    \bprompt\b|\bserv(?:e|ed|ing)\b|\bbatch\w*|\bcards?\b|\bcached?\b|\bgpus?\b|\bmerged?\b|\bprefill|\bdecode
    \bfalls? back|\bold (?:version|prompts)|\bgoes? back|\blast (?:week|month)'s|\bcomes? back|\bwatch\b
    \bin a hundred|\bper ?cent\b|\bprotected""",
}
