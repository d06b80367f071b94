import{i,na as c,oa as p,s as n}from"./chunk.CSQ3KWN4.js";var u=`
\u{1F44D} thumbs up yes|\u{1F44E} thumbs down no|\u{1F44F} clap applause|\u{1F64F} thanks please|\u{1F64C} hooray|\u{1F4AA} strong|\u{1F44B} hello wave
\u270C\uFE0F peace|\u{1F91D} deal handshake|\u{1F440} looking eyes|\u{1FAF6} care|\u2764\uFE0F heart love|\u{1F9E1} orange heart|\u{1F49B} yellow heart
\u{1F49A} green heart|\u{1F499} blue heart|\u{1F49C} purple heart|\u{1F5A4} black heart|\u{1F494} broken heart|\u{1F600} grin|\u{1F604} smile happy
\u{1F602} joy laugh|\u{1F923} rolling laugh|\u{1F60A} blush|\u{1F60D} in love|\u{1F618} kiss|\u{1F60E} cool|\u{1F914} thinking hmm|\u{1F605} sweat phew|\u{1F609} wink
\u{1F642} slight smile|\u{1F643} upside down|\u{1F634} sleep tired|\u{1F62E} wow surprised|\u{1F622} sad cry|\u{1F62D} sob|\u{1F621} angry|\u{1F631} scream
\u{1F973} party face|\u{1F92F} mind blown|\u{1F917} hug|\u{1F937} shrug|\u{1F926} facepalm|\u{1F62C} grimace|\u{1F97A} pleading|\u{1F607} angel|\u{1F913} nerd|\u{1F637} mask sick
\u{1F912} ill|\u{1F389} party tada|\u{1F382} cake birthday|\u{1F381} gift present|\u{1F3C6} trophy win|\u{1F947} gold first|\u{1F525} fire hot|\u2728 sparkles
\u2B50 star|\u{1F4AF} hundred|\u2705 check done|\u274C cross wrong|\u2757 important|\u2753 question|\u{1F4A1} idea|\u{1F680} rocket launch|\u{1F3AF} target
\u{1F4CC} pin|\u{1F514} bell|\u{1F512} lock|\u{1F511} key|\u23F0 alarm|\u{1F4C5} calendar date|\u{1F4F7} camera|\u{1F4CE} clip|\u{1F4DD} note|\u{1F4D6} book read|\u{1F4BB} computer
\u{1F4F1} phone|\u{1F6E0}\uFE0F tools fix|\u{1F41B} bug|\u{1F9EA} test|\u2615 coffee|\u{1F375} tea|\u{1F37A} beer|\u{1F377} wine|\u{1F355} pizza|\u{1F34E} apple|\u{1F955} carrot|\u{1F35E} bread
\u{1F370} dessert|\u{1F957} salad|\u{1F353} strawberry|\u{1F331} seedling sprout|\u{1F333} tree|\u{1F33B} sunflower|\u{1F339} rose|\u{1F308} rainbow|\u2600\uFE0F sun|\u{1F327}\uFE0F rain
\u2744\uFE0F snow cold|\u26A1 lightning|\u{1F30A} wave sea|\u{1F319} moon|\u{1F436} dog|\u{1F431} cat|\u{1F426} bird|\u{1F41D} bee|\u{1F98B} butterfly|\u{1F41F} fish|\u{1F422} turtle
\u26BD football|\u{1F3C0} basketball|\u{1F6B2} bicycle|\u{1F697} car|\u{1F686} train|\u2708\uFE0F plane|\u{1F3E0} home house|\u{1F3D4}\uFE0F mountain|\u{1F3D6}\uFE0F beach|\u{1F3B5} music
\u{1F3B8} guitar|\u{1F3AE} game|\u{1F3AC} film|\u{1F3A8} art paint
`,s=u.trim().split(`
`).map(l=>l.split("|").map(a=>{let[r,...t]=a.split(" ");return{character:r,name:t.join("_"),words:t.join(" ")}}));function b(l,a=8){let r=l.toLowerCase();return s.flat().filter(t=>t.name.startsWith(r)||t.words.split(" ").some(o=>o.startsWith(r))).slice(0,a)}function k(l){let a=n("input.field-input",{type:"search",placeholder:i("emoji.search"),aria:{label:i("emoji.search")}}),r=n("div.emoji-grid",{role:"group",aria:{label:i("emoji.all")}}),t=()=>{let o=new Map(s.flat().map(e=>[e.character,e])),h=c(12).map(e=>o.get(e)??{character:e,words:e}),m=a.value?[b(a.value,60)]:[h,...s];r.replaceChildren(...m.flat().map(e=>n("button.emoji",{title:e.words,aria:{label:e.words},on:{click:()=>{p(e.character),l(e.character)}}},e.character))),r.childElementCount||r.append(n("p.second",null,i("emoji.none")))};return a.addEventListener("input",t),a.addEventListener("keydown",o=>{o.key==="Enter"&&(o.preventDefault(),r.querySelector("button")?.click())}),t(),Object.assign(n("div.emoji-picker",null,a,r),{input:a})}export{s as a,b,k as c};
