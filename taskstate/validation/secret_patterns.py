"""The table of known credentials: how each kind is written, and the prefilters that find candidates quickly.

A regular expression is compiled only if one of its keywords occurs near a candidate: compiling all of them would take
longer than reading a state file. Every row has lines that it must find and lines that it must not find in
tests/cases/secrets.
"""

from __future__ import annotations

from functools import cache

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class TokenPattern(NamedTuple):
    """How one kind of credential is written: each holds one of the space-separated `keywords` and matches `regex`.

    A keyword contains the first character of the prefilter that finds such a credential; a keyword that ends in `_` or
    `-` ends with that character. `nearby` is a word in lower case that the same line must hold as well.
    """

    kind: str
    keywords: str
    regex: str
    nearby: str = ""


WEB_TOKEN = "a JSON Web Token"  # noqa: S105 - the name of a kind, not a secret
_HEX, _ANY = "[a-f0-9]", "[A-Za-z0-9_-]"
_UUID = f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_NO_BASE64 = "(?<![A-Za-z0-9+][+/])"  # before short prefixes, which occur by chance in base64
_A_DIGIT = "[A-Za-z_.%-]{0,40}[0-9]"
_AGE = "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]"

PREFIXED = "a key with a telling prefix"
# What stands for them in the table of prefixes.
_ALPHABETS = (("%W", "[A-Za-z0-9_-]"), ("%A", "[A-Za-z0-9]"), ("%H", "[A-Fa-f0-9]"), ("%U", _UUID))


# Of two matches that overlap the earlier one counts, and of two at one position the row that comes first.
_PATTERNS = (
    # Code, packages, continuous integration
    TokenPattern(
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        rf"gh[pousr]_[A-Za-z0-9]{{36}}[A-Za-z0-9_]*|github_pat_[A-Za-z0-9]{{22}}_[A-Za-z0-9]{{59}}"
        rf"|ghs_[0-9]{{1,12}}_eyJ{_ANY}{{8,}}\.eyJ{_ANY}{{8,}}\.{_ANY}{{20,}}",
    ),
    TokenPattern(
        "a GitLab token",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glffct- glimt- glagent- gloas- glsoat- glwt-",
        rf"gl(?:pat|ptt|dt|rtr?|cbt|ft|ffct|imt|agent|oas|soat|wt)-{_ANY}{{20,}}(?:\.[0-9a-z.]{{9,}})?",
    ),
    TokenPattern(
        "a GitHub token in base64",
        "Z2hwX Z2h1X Z2hvX Z2hzX Z2hyX",
        rf"{_NO_BASE64}Z2h[1vwyz]X[A-Za-z0-9+/]{{40,}}={{0,2}}",
    ),
    TokenPattern("a GitLab token", "GR1348941", rf"GR1348941{_ANY}{{20}}"),
    TokenPattern("a Bitbucket token", "ATBB BBDC-", r"ATBB[A-Za-z0-9]{32}(?![A-Za-z0-9])|BBDC-[A-Za-z0-9+/=]{32,}"),
    TokenPattern("an npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    TokenPattern("a PyPI token", "pypi-", rf"pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw){_ANY}{{40,}}"),
    TokenPattern("a RubyGems key", "rubygems_", rf"rubygems_{_HEX}{{48}}"),
    TokenPattern("a crates.io token", "cio", rf"{_NO_BASE64}cio[A-Za-z0-9]{{32}}(?![A-Za-z0-9+/=])"),
    TokenPattern("a NuGet key", "oy2", rf"{_NO_BASE64}oy2[a-z0-9]{{43}}(?![A-Za-z0-9+/=])"),
    TokenPattern("a Clojars token", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}"),
    TokenPattern("an Artifactory token", "cmVmd", rf"{_NO_BASE64}cmVmd[A-Za-z0-9]{{59}}(?![A-Za-z0-9+/=])"),
    TokenPattern("an Artifactory key", "AKCp", rf"{_NO_BASE64}AKCp[A-Za-z0-9]{{68,70}}(?![A-Za-z0-9+/=])"),
    TokenPattern("a Docker token", "dckr_pat_ dckr_oat_", rf"dckr_(?:pat|oat)_{_ANY}{{27,}}"),
    TokenPattern(
        "a Docker Swarm token",
        "SWMTKN- SWMKEY-",
        r"SWMTKN-1-[a-z0-9]{50}-[a-z0-9]{25}|SWMKEY-1-[A-Za-z0-9+/]{40,}",
    ),
    TokenPattern(
        "a Buildkite token",
        "bkua_ bkaa_ bkaj_ bkar_ bkct_ bkpt_ bkpat_ bkps_",
        rf"bkua_[a-z0-9]{{40,53}}|bk(?:aa|aj|ar|ct|pt|pat|ps)_{_ANY}{{40,}}",
    ),
    TokenPattern("a CircleCI token", "CCIPAT_ CCIPRJ_", rf"CCI(?:PAT|PRJ)_[A-Za-z0-9]{{22}}_{_HEX}{{40}}"),
    TokenPattern("a SonarQube token", "squ_ sqa_ sqp_", rf"sq[uap]_{_HEX}{{40}}"),
    # Clouds and hosts
    TokenPattern("an AWS access key id", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    TokenPattern("an AWS Bedrock key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    TokenPattern("a Google API key", "AIza AQ.Ab8R", rf"AIza{_ANY}{{35}}(?!{_ANY})|AQ\.Ab8R{_ANY}{{44,}}"),
    TokenPattern("a Google OAuth secret", "GOCSPX-", rf"GOCSPX-{_ANY}{{28}}(?!{_ANY})"),
    TokenPattern("a Google OAuth token", "ya29. 1//0", rf"ya29\.{_ANY}{{40,}}|1//0{_ANY}{{40,}}"),
    TokenPattern("an Azure client secret", "Q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"),
    TokenPattern(
        "an Azure key", "AccountKey= AccessKey=", r"AccountKey=[A-Za-z0-9+/]{86}==|SharedAccessKey=[A-Za-z0-9+/]{43}="
    ),
    TokenPattern("an Azure DevOps token", "QQJ", r"(?<!\\)[A-Za-z0-9]{50,56}QQJ[A-Za-z0-9]{8,30}AZDO[A-Za-z0-9]{4,5}"),
    TokenPattern("an Azure key", "QQJ", r"(?<!\\)[A-Za-z0-9]{50,56}QQJ9[A-Za-z0-9]{20,32}"),
    TokenPattern("an Aiven password", "AVNS_", rf"AVNS_(?=[^A-Z]{{0,20}}[A-Z]){_ANY}{{9,40}}"),
    TokenPattern("a Bot Framework secret", ".", rf"{_ANY}{{11}}\.{_ANY}{{43}}(?![A-Za-z0-9_.-])", "bot"),
    TokenPattern("a Bot Framework secret", ".", rf"{_ANY}{{11}}\.{_ANY}{{43}}(?![A-Za-z0-9_.-])", "directline"),
    TokenPattern("an Azure signature", "sig=", r"sig=[A-Za-z0-9%]{43,63}%3[Dd]"),
    TokenPattern("an Azure signature", "sig=", r"sig=[A-Za-z0-9%_-]{24,120}", "sv="),
    TokenPattern("a key of an Azure function", "code=", r"code=[A-Za-z0-9+/%_=-]{40,120}", "azurewebsites"),
    TokenPattern("an Alibaba Cloud key id", "LTAI", rf"{_NO_BASE64}LTAI[A-Za-z0-9]{{17,21}}(?![A-Za-z0-9+/=])"),
    TokenPattern("a DigitalOcean token", "_v1_", rf"do[opr]_v1_{_HEX}{{64}}"),
    TokenPattern(
        "a Cloudflare token",
        "cfut_ cfat_ cfk_ v1.0-",
        rf"cf(?:[ua]t|k)_[A-Za-z0-9]{{40}}{_HEX}{{8}}|v1\.0-{_HEX}{{24}}-{_HEX}{{146}}",
    ),
    TokenPattern("a Heroku key", "HRKU-", rf"HRKU-AA{_ANY}{{58}}"),
    TokenPattern("a Heroku key", "-", _UUID, "heroku"),
    TokenPattern(
        "a Fly.io token",
        "fm1_ fm2_ fm1a_ fm1r_ fm2a_ fm2r_ fo1_",
        rf"fm[12][ar]?_[A-Za-z0-9+/=_,-]{{100,}}|fo1_{_ANY}{{43}}",
    ),
    TokenPattern("a Vercel token", "vcp_ vca_ vci_ vcr_ vck_", rf"vc[pairk]_{_ANY}{{56}}"),
    TokenPattern("a Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"nf[pcoub]_[A-Za-z0-9]{36}"),
    TokenPattern("a Render key", "rnd_", r"rnd_[A-Za-z0-9]{28,32}"),
    TokenPattern("a Supabase token", "sb_secret_", rf"sb_secret_{_ANY}{{31}}"),
    TokenPattern("a Neon key", "napi_", r"napi_[a-z0-9]{64}"),
    TokenPattern(
        "a PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}"
    ),
    TokenPattern("a Databricks token", "dapi", rf"{_NO_BASE64}dapi{_HEX}{{32}}(?![A-Za-z0-9])(?:-[0-9])?"),
    TokenPattern("a HashiCorp Vault token", "hvs. hvb. hvr.", rf"hv[sbr]\.{_ANY}{{24,}}"),
    # Tokens from before version 1.10. Code has such names too, but none that mixes cases and has digits in two places.
    TokenPattern(
        "a HashiCorp Vault token",
        "s.",
        r"s\.(?=[A-Za-z]*[0-9]+[A-Za-z]+[0-9])(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[A-Za-z0-9]{24}(?![A-Za-z0-9_.(-])",
    ),
    TokenPattern("a HashiCorp Vault token", "s.", r"s\.(?=[A-Za-z]*[0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9_.(-])", "vault"),
    TokenPattern("a ClickHouse key", "4b1d", rf"{_NO_BASE64}4b1d[A-Za-z0-9]{{38}}(?![A-Za-z0-9+/=])"),
    TokenPattern("a MaxMind key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    TokenPattern("a Terraform token", ".atlasv1.", r"(?<!\\)[A-Za-z0-9]{9,14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    TokenPattern(
        "an Alchemy or Infura key",
        "/v2/ /v3/",
        rf"(?:infura\.io|alchemyapi\.io|alchemy\.com)/(?:ws/)?v[23]/{_ANY}{{32}}(?!{_ANY})",
    ),
    TokenPattern("a Pulumi token", "pul-", rf"pul-{_HEX}{{40}}"),
    TokenPattern(
        "a Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,40}\.)?[A-Za-z0-9]{40,44}"
    ),
    TokenPattern("a 1Password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}"),
    # Monitoring
    TokenPattern(
        "a Grafana token", "glsa_ glc_", rf"glsa_[A-Za-z0-9]{{32}}_{_HEX}{{8}}|glc_[A-Za-z0-9+/]{{30,}}={{0,2}}"
    ),
    TokenPattern("a Grafana token", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}"),
    TokenPattern("a New Relic key", "NRAK-", r"NRAK-[A-Za-z0-9]{27}"),
    TokenPattern("a Sentry token", "sntryu_ sntrys_", rf"sntryu_{_HEX}{{64}}|sntrys_eyJ[A-Za-z0-9+/=_-]{{40,}}"),
    TokenPattern(
        "a Dynatrace token", "dt0c01. dt0s01. dt0s02.", r"dt0[cs]0[12]\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{55,64}"
    ),
    # Messaging and collaboration
    TokenPattern(
        "a Slack token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-",
        r"xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|xoxd-[A-Za-z0-9%/+_-]{40,}|xapp-[0-9]-[A-Za-z0-9-]{20,}",
    ),
    TokenPattern(
        "a Slack webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{36,}",
    ),
    TokenPattern(
        "a Discord webhook", "/api/webhooks/", rf"discord(?:app)?\.com/api/webhooks/[0-9]{{17,20}}/{_ANY}{{60,}}"
    ),
    TokenPattern(
        "a Discord bot token", ".", rf"[MNO]{_ANY}{{23,27}}\.{_ANY}{{6}}\.{_ANY}{{27,38}}(?!{_ANY})", "discord"
    ),
    TokenPattern("a Pushbullet token", "o.", r"o\.[A-Za-z0-9]{32,34}(?![A-Za-z0-9])", "pushbullet"),
    TokenPattern("a Telegram bot token", ":A", rf"(?:bot)?[0-9]{{8,10}}:A{_ANY}{{34}}(?!{_ANY})"),
    TokenPattern("a Firebase key", ":A", rf"AAAA{_ANY}{{7}}:APA91b{_ANY}{{130,}}"),
    TokenPattern("an Asana token", ":", r"[0-2]/[0-9]{13,19}(?:/[0-9]{13,19})?:[a-f0-9]{32}(?![A-Za-z0-9])"),
    TokenPattern("a Ghost key", ":", rf"{_HEX}{{24}}:{_HEX}{{64}}(?![A-Za-z0-9])"),
    TokenPattern("an ngrok token", "_", r"[0-9][A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}(?![A-Za-z0-9_])", "ngrok"),
    TokenPattern("a Twilio key", "SK", rf"SK{_HEX}{{32}}(?![A-Za-z0-9])", "twilio"),
    TokenPattern(
        "a SendGrid key",
        "SG.",
        rf"SG\.{_ANY}{{22}}\.{_ANY}{{43}}|SG\.(?={_A_DIGIT}){_ANY}{{20,32}}\.(?={_A_DIGIT}){_ANY}{{32,50}}",
    ),
    TokenPattern("a Mailgun key", "key-", rf"(?<![.-])key-{_HEX}{{32}}(?![A-Za-z0-9-])"),
    TokenPattern("a Mailgun key", "-", rf"{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}", "mailgun"),
    TokenPattern("a Mailchimp key", "-us", rf"{_HEX}{{32}}-us[0-9]{{1,2}}(?![A-Za-z0-9-])"),
    TokenPattern("a Resend key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    TokenPattern("a HubSpot token", "pat-", rf"pat-(?:na|eu|ap)[0-9]-{_UUID}"),
    TokenPattern("a Contentful token", "CFPAT-", rf"CFPAT-{_ANY}{{43}}"),
    TokenPattern("an Atlassian token", "ATATT3 ATCTT3", r"AT(?:ATT|CTT)3[A-Za-z0-9_=-]{100,}"),
    TokenPattern(
        "a Microsoft Teams webhook",
        "/webhook/ /webhookb2/",
        r"(?:outlook|webhook)\.office(?:365)?\.com/webhook(?:b2)?/[A-Za-z0-9-]{36}@[A-Za-z0-9-]{36}/IncomingWebhook/[A-Za-z0-9]{32}",
    ),
    TokenPattern(
        "a Mattermost webhook", "/hooks/", r"https?://[A-Za-z0-9.:-]{1,60}/hooks/[a-z0-9]{26}(?![A-Za-z0-9_/-])"
    ),
    TokenPattern("a Zapier webhook", "/hooks/", r"hooks\.zapier\.com/hooks/catch/[0-9]{4,12}/[A-Za-z0-9]{5,20}"),
    TokenPattern(
        "a ThingsBoard token",
        "/v1/",
        r"thingsboard\.[a-z.]{2,20}/api/v1/[A-Za-z0-9]{20}/(?:telemetry|attributes|rpc)\b",
    ),
    TokenPattern("a Salesforce token", "!", r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._-]{60,}"),
    TokenPattern(
        "an Authress key",
        ".acc",
        r"(?<!\\)[a-z]{2,8}_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
    ),
    TokenPattern("a Linear key", "lin_api_ lin_oauth_", rf"lin_api_[A-Za-z0-9]{{40}}|lin_oauth_{_HEX}{{64}}"),
    TokenPattern(
        "a Notion token", "ntn_ secret_", r"ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"
    ),
    TokenPattern("an Intercom token", "dG9rO", rf"{_NO_BASE64}dG9rO[A-Za-z0-9+/_-]{{50,}}=?"),
    TokenPattern("a DeepL key", "-", rf"{_UUID}:fx", "deepl"),
    TokenPattern("a Dropbox token", "AAAAAAAAAA", rf"[a-z0-9]{{11}}AAAAAAAAAA{_ANY}{{43}}(?!{_ANY})"),
    TokenPattern("a Figma token", "figd_ figu_ figo_ figr_ figp_ figh_", rf"fig[duorph]_{_ANY}{{38,42}}"),
    TokenPattern("an Airtable token", ".", rf"pat[A-Za-z0-9]{{14}}\.{_HEX}{{64}}"),
    TokenPattern("a Postman key", "PMAK-", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    TokenPattern("a Mapbox token", "sk.eyJ", rf"sk\.eyJ{_ANY}{{40,}}\.{_ANY}{{20,}}"),
    TokenPattern("an Unleash token", ".", rf"[a-z0-9_*-]{{1,40}}:[a-z0-9_-]{{1,40}}\.{_HEX}{{50,64}}", "unleash"),
    TokenPattern("a Tableau token", "==:", r"[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    # Payments
    TokenPattern("a Stripe key", "k_live_", r"[rs]k_live_[A-Za-z0-9]{16,}"),
    TokenPattern("a webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{32,}"),
    TokenPattern(
        "a Square token",
        "sq0atp- sq0csp- EAAA",
        rf"sq0(?:atp|csp)-{_ANY}{{22,43}}|{_NO_BASE64}EAAA{_ANY}{{60}}(?![A-Za-z0-9+/=_-])",
    ),
    TokenPattern("a Shopify token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"shp(?:at|ca|pa|ss|ua)_[A-Za-z0-9]{32,64}"),
    TokenPattern("an EasyPost key", "EZAK", rf"{_NO_BASE64}EZAK[A-Za-z0-9]{{54}}(?![A-Za-z0-9+/=])"),
    TokenPattern(
        "a Facebook token",
        "EAAM EAAC EAAB EAAD EAAE EAAG EAAH EAAI EAAJ EAAL",
        rf"{_NO_BASE64}EAA[B-EG-JLM][A-Za-z0-9]{{100,}}",
    ),
    TokenPattern("a GoCardless token", "live_ sandbox_", r"(?:live|sandbox)_[A-Za-z0-9_=-]{40}", "gocardless"),
    TokenPattern(
        "an Onfido token",
        "api_live. api_live_us. api_live_ca. api_live_eu. api_sandbox.",
        rf"api_(?:live(?:_(?:us|ca|eu))?|sandbox)\.(?={_A_DIGIT})[A-Za-z0-9_-]{{10,}}(?:\.{_ANY}{{20,}})?",
    ),
    # Language models
    TokenPattern("an OpenAI key", "sk-", rf"sk-(?:[a-z]{{1,16}}-)?{_ANY}{{20,80}}T3BlbkFJ{_ANY}{{20,}}"),
    TokenPattern("an Anthropic key", "sk-", rf"sk-ant-[a-z0-9]+-{_ANY}{{32,}}"),
    TokenPattern("an OpenRouter key", "sk-", rf"sk-or-v1-{_HEX}{{64}}"),
    TokenPattern(
        "a key for a language model",
        "sk-",
        rf"sk-(?:[A-Za-z0-9]{{32,64}}|(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])(?={_A_DIGIT}){_ANY}{{22}}|"
        rf"(?=[a-z0-9_-]*[A-Z])(?={_A_DIGIT}){_ANY}{{43}})(?!{_ANY})",
    ),
    TokenPattern(
        "a Zhipu key", ".", rf"{_HEX}{{32}}\.(?=[A-Za-z]*[0-9])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{{16}}(?![A-Za-z0-9_.-])"
    ),
    TokenPattern("a fal key", "-", rf"{_UUID}:{_HEX}{{32}}", "fal"),
    TokenPattern("a Brave key", "BSA", rf"BSA{_ANY}{{24,28}}(?!{_ANY})", "brave"),
    TokenPattern("an Ollama key", ".", rf"{_HEX}{{32}}\.(?=[a-z0-9_-]*[A-Z]){_ANY}{{24}}(?!{_ANY})"),
    TokenPattern(
        "a Composio key",
        "ak_ oak_ uak_",
        rf"[uo]?ak_(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])(?={_A_DIGIT}){_ANY}{{20,43}}(?!{_ANY})",
    ),
    TokenPattern("a Groq key", "gsk_", r"gsk_[A-Za-z0-9]{52}"),
    TokenPattern("a Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{48}"),
    TokenPattern("an xAI key", "xai-", rf"xai-{_ANY}{{70,120}}"),
    TokenPattern("a Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    TokenPattern("a LangSmith key", "lsv2_pt_ lsv2_sk_", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    TokenPattern("a Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z]{34}(?![A-Za-z0-9_])"),
    # Open standards
    TokenPattern("an age key", "AGE-SECRET-KEY-", rf"AGE-SECRET-KEY-1{_AGE}{{58}}|AGE-SECRET-KEY-PQ-1{_AGE}{{58,}}"),
    TokenPattern("a Fernet token", "gAAAAA", r"gAAAAA[A-Za-z0-9_-]{90,4000}={0,2}"),
    TokenPattern("a JSON Web Token in base64", "ZXlK", rf"{_NO_BASE64}ZXlK[A-Za-z0-9+/_-]{{50,}}={{0,2}}"),
    TokenPattern(WEB_TOKEN, "eyJ", rf"eyJ{_ANY}{{8,255}}\.eyJ{_ANY}{{4,}}\.{_ANY}*"),
    # Prefixes of services that the table does not know; what follows must look as if a machine had made it.
    TokenPattern(
        PREFIXED,
        "live_ prod_ sk_ pat_ api_ key_ secret_ token_ sec_ live- prod- sk- pat- api- secret- token-",
        r"(?<![\\-])[a-z][a-z0-9]{1,15}[_-](?:live|prod|sk|pat|api|key|secret|token|sec)[_-][A-Za-z0-9]{20,200}(?![A-Za-z0-9])",
    ),
)

# Prefilters: where a token may be. Each begins with one rare character, to which the regular expression engine jumps;
# what stands behind it, and by a look-behind just before it, is tried only there.
PREFILTERS = (
    r"A[A-Za-z0-9.-][A-Za-z0-9_+/=-]{18}",
    r"_(?=[A-Za-z0-9]{16}|(?<=AVNS_)[A-Za-z0-9_-]{9}|(?=[A-Za-z_+/=-]{0,40}[0-9])[A-Za-z0-9_+/=-]{27})",
    r"J(?:(?<=eyJ)[A-Za-z0-9_-]{8}|(?<=QQJ)[A-Za-z0-9]{12})",
    r"-(?<=[A-Za-z0-9]-)(?=(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{9}[A-Za-z0-9_+/=-]{5}|us[0-9])",
    r"\.(?:[A-Za-z0-9_-]{22}|(?<=[0-9a-f]{32}\.)[A-Za-z0-9]{16})",
    r"=(?:(?<=Key=)[A-Za-z0-9+/%]{43}|(?<=sig=)[A-Za-z0-9+/%_-]{24}|(?<=code=)[A-Za-z0-9+/%_=-]{40}|=:[A-Za-z0-9]{32})",
    (
        r"/(?<=/)(?:(?:services|workflows|triggers)/[A-Za-z0-9/]{36}|v[23]/[A-Za-z0-9_-]{32}"
        r"|webhook(?:s/[0-9]{17}|(?:b2)?/[A-Za-z0-9-]{36}@)|/(?<=1//)0[A-Za-z0-9_-]{40}"
        r"|hooks/(?:[a-z0-9]{26}|catch/[0-9]{4})|v1/[A-Za-z0-9]{20}/)"
    ),
    (
        r":(?:(?<=[A-Za-z0-9_-]:)A[A-Za-z0-9_-]{34}"
        r"|(?<=[0-9]{13}:)[0-9a-f]{32}|(?<=[0-9a-f]{24}:)[0-9a-f]{64})"
    ),
    r"Q(?<=[0-9]Q)~[A-Za-z0-9_~.-]{31}",
    r"K(?<=SK)[0-9a-f]{32}",
    r"G(?:R1348941|(?<=dG)9rO[A-Za-z0-9+/_-]{50})",
    r"X(?:(?<=ZX)lK[A-Za-z0-9+/_-]{50}|(?<=Z2h[1vwyz]X)[A-Za-z0-9]{30})",
    r"V(?<=cmV)md[A-Za-z0-9]{59}",
    r"4b1d[A-Za-z0-9]{38}",
    r"L(?<=L)TAI[A-Za-z0-9]{17}",
    r"E[AZ][AT][A-Za-z0-9_-]{41}",
    r"2(?<=oy2)[a-z0-9]{43}",
    r"p(?<=dap)i[0-9a-f]{32}",
    r"c(?<=c)io[A-Za-z0-9]{32}",
    r"~(?<=6~)[A-Za-z0-9_-]{43}",
    r"!(?<=[A-Za-z0-9]!)[A-Za-z0-9._-]{60}",
    r"\$(?<=n\$)[A-Za-z0-9]{16}\$",
)
LOOK_BACK = 72  # characters that a token may begin before the match of a prefilter


@cache
def token_patterns() -> tuple[TokenPattern, ...]:
    """Return all patterns; those with a telling prefix are made when they are first needed, not at every start."""
    return (*_PATTERNS, *_prefixed())


def _prefixed() -> Iterator[TokenPattern]:
    """Yield the pattern of each row of the table of prefixes."""
    from taskstate.validation.secret_prefixes import ROWS

    for row in ROWS.strip().splitlines():
        kind, prefixes, rest = row.split(" | ")
        for name, alphabet in _ALPHABETS:
            rest = rest.replace(name, alphabet)
        starts = "|".join(prefix.replace(".", r"\.").replace("$", r"\$") for prefix in prefixes.split())
        yield TokenPattern(kind, prefixes, f"{_NO_BASE64}(?<![.])(?:{starts})(?={_A_DIGIT}){rest}")
