"""Finds the tokens that their own form tells: a known prefix in most of them, a mark inside in a few.

A token has no blank, so only long words are looked at, and of the table only the rows with the first two characters of
what stands there. A pattern is compiled when its prefix was found: compiling all of them would take longer than reading
a state file.
"""

from __future__ import annotations

from functools import cache

from taskstate.secrets.values import is_example, is_random, is_shuffled, is_web_token
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.credential_signs import words_like_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

# A row for each kind: its name, its prefixes, and what follows them. There `%W` is a letter, digit, `_` or `-`, `%A` a
# letter or digit, `%B` a character of base64, `%H` a hexadecimal digit, `%U` a UUID, `%N` one of the names that tell,
# and `%E` the end of the word. Lengths are lower bounds where services have several; where they are not, the word ends
# there too. Of two rows that fit, the first counts.
_PREFIXES = r"""
a 1Password recovery key | 1PRK- | [A-Z0-9]{4}(?:-[A-Z0-9]{4}){12}
a 1Password secret key | A3- | [A-Z0-9]{6}-[A-Z0-9-]{27,32}
a 1Password token | ops_eyJ | [A-Za-z0-9+/=_-]{100,}
an Adobe secret | p8e- | %H{32}
a private key in base64 | LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBFQyBQ | %B{40,}={0,2}
a private key in base64 | LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS LS0tLS1CRUdJTiBEU0Eg | %B{40,}={0,2}
an age key | AGE-SECRET-KEY-1 | [A-Z0-9]{58}
an Airtable token | pat | %A{14}\.%H{64}
an Aiven password | AVNS_ | (?=[^A-Z]{0,20}[A-Z])%W{9,40}
an Alibaba Cloud key id | LTAI | %A{17,21}(?![A-Za-z0-9+/=])
an Amazon key | amzn.mws. | %U
an Amazon secret | amzn1.oa2-cs.v1. | %H{64}
an Anthropic key | sk-ant- | [a-z0-9]+-%W{32,}
an Artifactory key | AKCp | %A{68,70}(?![A-Za-z0-9+/=])
an Artifactory token | cmVmd | %A{59}(?![A-Za-z0-9+/=])
an Asana token | 0/ 1/ 2/ | [0-9]{13,19}(?:/[0-9]{13,19})?:%H{32}
an Atlassian token | ATSTT3 ATATT3 ATCTT3 | [A-Za-z0-9_=-]{100,}
an AWS access key id | AKIA ASIA ABIA ACCA | [A-Z0-9]{16}
an AWS Bedrock key | bedrock-api-key- | (?:YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=%]{0,4000}|[A-Za-z0-9+/]{60,})
an AWS Bedrock key | ABSK | %B{100,}={0,2}
a Bitbucket token | ATBB | %A{32}
a Bitbucket token | BBDC- | %B{32,}={0,2}
a Braintree or PayPal token | access_token$production$ access_token$sandbox$ | %A{16}\$%A{32}
a Brevo key | xkeysib- xsmtpsib- | %H{64}-%A{12,}
a Buildkite token | bkua_ bkaa_ bkaj_ bkar_ bkct_ bkpt_ bkpat_ bkps_ | %W{40,}
a Cerebras key | csk- | [a-z0-9]{48}
a CircleCI token | CCIPAT_ CCIPRJ_ | %A{22}_%H{40}
a ClickHouse key | 4b1d | %A{38}(?![A-Za-z0-9+/=])
a Clojars token | CLOJARS_ | %A{60}
a Cloudflare token | cfut_ cfat_ cfk_ | %A{40}%H{8}
a Cloudflare token | v1.0- | %H{24}-%H{146}
a Contentful token | CFPAT- | %W{43}
a crates.io token | cio | %A{32}(?![A-Za-z0-9+/=])
a Databricks token | dapi | %H{32}%E(?:-[0-9])?
a Deno token | ddp_ ddw_ ddo_ | %A{36}
a DigitalOcean token | dop_v1_ doo_v1_ dor_v1_ | %H{64}
a Discord bot token | MT Mj Mz ND NT Nj Nz OD OT | %W{22,26}\.%W{6}\.%W{27,38}(?!%W)
a Docker Swarm token | SWMTKN-1- SWMKEY-1- | (?:[a-z0-9]{50}-[a-z0-9]{25}|%B{40,})
a Docker token | dckr_pat_ dckr_oat_ | %W{27,}
a Doppler token | dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. | (?:[a-z0-9_-]{2,40}\.)?%A{40,44}
a Dropbox token | sl. | (?:u\.)?%W{110,}
a Duffel token | duffel_live_ duffel_test_ | %W{40,}
a Dynatrace token | dt0c01. dt0s01. dt0s02. | %A{8,24}\.%A{55,64}
an E2B key | e2b_ | %H{40}
an EasyPost key | EZTK | %A{54}
an EasyPost key | EZAK | %A{54}(?![A-Za-z0-9+/=])
an Elastic key | essu_ | [A-Za-z0-9+/]{40,}={0,2}
an ElevenLabs key | sk_ | %H{48}
a Facebook token | EAA | [B-EG-JLM]%A{100,}
a Fernet token | gAAAAA | %W{90,}={0,2}
a Figma token | figd_ figu_ figo_ figr_ figp_ figh_ | %W{38,42}
a Firecrawl key | fc- | %H{32}
a Fireworks key | fw_ | %A{22,}
a Flutterwave key | FLWSECK- FLWSECK_TEST- FLWSECK_LIVE- | %A{12,}(?:-X)?
a Fly.io token | fm1_ fm2_ fm1a_ fm1r_ fm2a_ fm2r_ | [A-Za-z0-9+/=_,-]{100,}
a Fly.io token | fo1_ | %W{43}
a GitHub token | ghp_ gho_ ghu_ ghs_ ghr_ | (?:%A{36}[A-Za-z0-9_]*|[0-9]{1,12}_eyJ[A-Za-z0-9_.-]{60,})
a GitHub token | github_pat_ | %A{22}_%A{59}
a GitHub token in base64 | Z2hwX Z2h1X Z2hvX Z2hzX Z2hyX | %B{40,}={0,2}
a GitLab token | glpat- glptt- gldt- glrt- glrtr- glcbt- glft- | %W{20,}(?:\.[0-9a-z.]{9,})?
a GitLab token | glffct- glimt- glagent- gloas- glsoat- glwt- | %W{20,}(?:\.[0-9a-z.]{9,})?
a GitLab token | GR1348941 | %W{20}
a Google API key | AIza | %W{35}(?!%W)
a Google API key | AQ.Ab8R | %W{44,}
a Google OAuth secret | GOCSPX- | %W{28}(?!%W)
a Google OAuth token | ya29. 1//0 | %W{40,}
a Grafana token | glsa_ | %A{32}_%H{8}
a Grafana token | glc_ eyJrIjoi | %B{30,}={0,2}
a Groq key | gsk_ | %A{52}
a HashiCorp Vault token | hvs. hvb. hvr. | %W{24,}
a HashiCorp Vault token | s. | (?=[A-Za-z]*[0-9]+[A-Za-z]+[0-9])(?=[a-z0-9]*[A-Z])%A{24}(?![A-Za-z0-9_.(-])
a Helicone key | sk-helicone- | %W{20,}
a Heroku key | HRKU-AA | %W{58}
a Honeycomb key | hcaik_ hcbik_ hcxik_ hcaic_ hcamk_ hcalk_ | [a-z0-9]{26,64}
a HubSpot token | pat-na1- pat-na2- pat-eu1- pat-ap1- | %U
a Hugging Face token | hf_ api_org_ | [A-Za-z]{34}(?![A-Za-z0-9_])
an Intercom token | dG9rO | [A-Za-z0-9+/_-]{50,}=?
a Jina key | jina_ | %A{50,}
a JSON Web Token | eyJ | %W{8,255}\.eyJ%W{4,}\.%W*
a JSON Web Token in base64 | ZXlK | [A-Za-z0-9+/_-]{50,}={0,2}
a Langfuse key | sk-lf- | %U
a LangSmith key | lsv2_pt_ lsv2_sk_ | %H{32}_%H{10}
a LaunchDarkly key | api- sdk- | %U
a Linear key | lin_api_ lin_oauth_ | %A{40,64}
a Mapbox token | sk.eyJ | %W{40,}\.%W{20,}
a Mercado Pago token | APP_USR- | [0-9]{16}-[0-9]{6}-%H{32}-[0-9]{6,10}
a MongoDB key | mdb_sa_sk_ | %W{40}
a Neon key | napi_ | [a-z0-9]{64}
a Netlify token | nfp_ nfc_ nfo_ nfu_ nfb_ | %A{36}
a New Relic key | NRII- NRJS- NRAA- NRIQ- NRSP- NRRA- NRBR- NRAL- | %W{18,}
a New Relic key | NRAK- | %A{27}
a Notion token | ntn_ | [0-9]{11}%A{35}
a Notion token | secret_ | %A{43}
an npm token | npm_ | %A{36}
a NuGet key | oy2 | [a-z0-9]{43}(?![A-Za-z0-9+/=])
an Nvidia key | nvapi- | %W{60,}
an Octopus key | API- | [A-Z0-9]{24,}
an OpenAI key | sk-None- sk-proj- sk-svcacct- sk-admin- | %W{40,}
an OpenAI key | sk- sk-proj- sk-svcacct- sk-admin- sk- | %W{20,80}T3BlbkFJ%W{20,}
an OpenRouter key | sk-or-v1- | %H{64}
an OpenShift token | sha256~ | %W{43}
a Packagist token | packagist_ack_ packagist_acs_ packagist_cut_ packagist_ort_ packagist_out_ packagist_uut_ | %H{60,}
a Paddle key | pdl_live_apikey_ pdl_sdbx_apikey_ | [a-z0-9]{26}_%A{22}_%A{3}
a Paystack key | sk_test_ | (?:%H{40}|[a-z0-9]{40}%E)
a Perplexity key | pplx- | %A{48}
a Pinecone key | pcsk_ | %W{50,}
a Plaid token | access-sandbox- access-development- access-production- | %U
a PlanetScale token | pscale_tkn_ pscale_pw_ pscale_oauth_ | [A-Za-z0-9_=.-]{32,64}
a Polar token | polar_oat_ polar_pat_ polar_at_ | %W{30,}
a PostHog key | phx_ phs_ pha_ phr_ | %W{40,}
a Postman key | PMAK- | %H{24}-%H{34}
a Postman token | PMAT- | [A-Z0-9]{26}
a Prefect key | pnu_ pnb_ | %A{36}
a Pterodactyl key | ptla_ ptlc_ | %A{43}
a PubNub key | sec-c- pub-c- | [A-Za-z0-9]{8}-%W{24,}
a Pulumi token | pul- | %H{40}
a PyPI token | pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw | %W{40,}
a Razorpay key | rzp_live_ rzp_test_ | %A{14,}
a Render key | rnd_ | %A{28,32}
a Replicate token | r8_ | %A{37}
a Resend key | re_ | %A{8}_%A{24}
a Riot key | RGAPI- | [A-Za-z0-9]{8}-%W{27}
a RubyGems key | rubygems_ | %H{48}
a RunPod key | rpa_ | %A{40,}
a Salesforce token | 00D | %A{12,15}![A-Za-z0-9._-]{60,}
a SendGrid key | SG. | %W{22}\.%W{43}(?!%W)
a Sentry token | sntrya_ sntryi_ sntryu_ | %H{64}
a Sentry token | sntrys_eyJ | [A-Za-z0-9+/=_-]{40,}
a Shippo token | shippo_live_ shippo_test_ | %A{40}
a Shopify token | shpat_ shpca_ shppa_ shpss_ shpua_ | %A{32,64}
a Slack token | xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxp- xoxr- xoxs- | (?:xox[bp]-)?[A-Za-z0-9%/+_-]{10,}
a Slack token | xapp- | [0-9]-[A-Za-z0-9-]{20,}
a Snyk token | snyk_uat. snyk_sat. | %W{20,}\.%W{20,}
a SonarQube token | squ_ sqa_ sqp_ | %H{40}
a Sourcegraph token | slk_ sgs_ | %H{64}
a Square token | sq0atp- sq0csp- | %W{22,43}
a Square token | EAAA | %W{60}(?![A-Za-z0-9+/=_-])
a Stripe key | sk_live_ rk_live_ | %A{16,}
a Supabase token | sbp_ | %A{40}
a Supabase token | sb_secret_ | %W{31}
a Tailscale key | tskey- | [a-z]{2,10}-%W{20,}
a Tavily key | tvly- tvly-dev- tvly-prod- | %A{30,}
a Together key | tgp_v1_ | %W{40,}
a Trello token | ATTA | %H{64,72}
a Twilio key | SK | [0-9a-f]{32}
a Typeform token | tfp_ | [A-Za-z0-9_.=-]{40,}
a Vercel token | vercel_blob_rw_ | %A{16,}_%A{16,}
a Vercel token | vcp_ vca_ vci_ vcr_ vck_ | %W{56}
a webhook secret | whsec_ | [A-Za-z0-9+/=]{32,}
a Weights & Biases key | wandb_v1_ | %W{70,}
a WooCommerce key | ck_ cs_ | %H{40}
an xAI key | xai- | %W{70,120}
an Xendit key | xnd_production_ xnd_development_ | %A{40,}
a key for a language model | sk- | %A{32,64}(?!%W)
"""
# A row for each kind that is told by a mark inside: its name, its marks, and the whole of it.
_MARKS = r"""
an Alchemy or Infura key | /v2/ /v3/ | (?:infura\.io|alchemyapi\.io|alchemy\.com)/(?:ws/)?v[23]/%W{32}(?!%W)
an Azure client secret | Q~ | [A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])
an Azure key | AccountKey= AccessKey= | (?:AccountKey=%B{86}==|SharedAccessKey=%B{43}=)
an Azure key | QQJ | %A{50,56}QQJ(?:9%A{20,32}|%A{8,30}AZDO%A{4,5})
an Azure signature | sig= | sig=[A-Za-z0-9%]{43,63}%3[Dd]
a Discord webhook | /api/webhooks/ | discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/%W{60,}
a Dropbox token | AAAAAAAAAA | [a-z0-9]{11}AAAAAAAAAA%W{43}(?!%W)
a Firebase key | :APA91b | AAAA%W{7}:APA91b%W{130,}
an Infracost key | ico- | (?<!\.)ico-%A{32}%E
a Mailchimp key | -us | [0-9a-f]{32}-us[0-9]{1,2}(?!%W)
a Mailgun key | key- | (?<![.-])key-%H{32}(?!%W)
a Microsoft Teams webhook | /IncomingWebhook/ | office(?:365)?\.com/webhook(?:b2)?/[\w@-]{73}/IncomingWebhook/%A{32}
a Slack webhook | hooks.slack.com/ | hooks\.slack\.com/(?:services/T%A+/B%A+|workflows|triggers)/[A-Za-z0-9/]{20,}
a Telegram bot token | :A | (?:bot)?[0-9]{8,10}:A%W{34}(?!%W)
a Terraform token | .atlasv1. | %A{9,14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}
a key with a telling prefix | live_ prod_ sk_ pat_ api_ key_ secret_ token_ | [a-z0-9]{2,16}_%N_%A{20,200}%E
"""
_ALPHABETS = (
    ("%W", "[A-Za-z0-9_-]"),
    ("%A", "[A-Za-z0-9]"),
    ("%B", "[A-Za-z0-9+/]"),
    ("%H", "[A-Fa-f0-9]"),
    ("%U", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ("%E", "(?![A-Za-z0-9])"),
    ("%N", "(?:live|prod|sk|pat|api|key|secret|token)"),
)
_WEB_TOKEN, _GUESSED = "a JSON Web Token", "a key with a telling prefix"
_WORD_START = r"(?:(?<![A-Za-z0-9_\\])|(?<=\\[nrt]))"  # a line end of a JSON string may stand before it
_AS_REQUIRED = ("an AWS access key id", "a Stripe key")  # of any letters, as the requirement writes them
_CUT_OR_MASKED = r"\.\.\.|\u2026|[*#]{3}"  # stands behind a token of which only the beginning is shown
_OF_LENGTH = r"[0-9]\}$"  # ends with a count that has an upper bound: a longer word is something else
_FEW_DISTINCT = 5  # different characters; a real token has more


class Row(NamedTuple):
    """A kind of token: how it is called, the prefixes or marks that tell it, and a regular expression."""

    kind: str
    told_by: tuple[str, ...]
    regex: str


@cache
def prefixed() -> tuple[Row, ...]:
    """Return the kinds that a prefix tells, with a regular expression for what follows it."""
    return tuple(map(_row, _PREFIXES.strip().splitlines()))


@cache
def marked() -> tuple[Row, ...]:
    """Return the kinds that a mark inside tells, with a regular expression for the whole token."""
    return tuple(map(_row, _MARKS.strip().splitlines()))


@cache
def _row(line: str) -> Row:
    kind, told_by, regex = line.split(" | ")
    regex += "%E" if compiled(_OF_LENGTH).search(regex) else ""
    for name, alphabet in _ALPHABETS:
        regex = regex.replace(name, alphabet)
    return Row(kind, tuple(told_by.split()), regex)


@cache
def _by_beginning() -> dict[str, list[tuple[str, str]]]:
    """Return each prefix with its line of the table, by its first two characters."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in _PREFIXES.strip().splitlines():
        for prefix in line.split(" | ", 2)[1].split():
            found.setdefault(prefix[:2], []).append((prefix, line))
    return found


@cache
def _by_mark() -> tuple[tuple[str, Row], ...]:
    return tuple((mark, row) for row in marked() for mark in row.told_by)


def tokens_in(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the span of each token that its form tells, with its kind."""
    for word, span in words_like_tokens(text):
        yield from _with_prefix(text, span)
        yield from _with_mark(text, word, span)


def _with_prefix(text: str, word: Span) -> Iterator[tuple[Span, str]]:
    beginnings, done = _by_beginning(), word.start
    for run in compiled("[A-Za-z0-9_]+").finditer(text, *word):
        at = run.start()
        if text[at - 1 : at] == "\\" and text[at] in "nrt":
            at += 1  # behind a line end in a JSON string
        for prefix, line in beginnings.get(text[at : at + 2], ()) if at >= done else ():
            if text.startswith(prefix, at) and not (prefix.isalnum() and _is_in_base64(text, at)):
                row = _row(line)
                match = compiled(row.regex).match(text, at + len(prefix), word.end)
                if match:
                    done = match.end()  # also of an example: many on one line take linear time
                    if _is_real(text, Span(at, done), row.kind, match[0]):
                        yield Span(at, done), row.kind
                    break


def _with_mark(text: str, word: str, span: Span) -> Iterator[tuple[Span, str]]:
    for row in dict.fromkeys(row for mark, row in _by_mark() if mark in word):
        for match in compiled(f"{_WORD_START}(?:{row.regex})").finditer(text, *span):
            if _is_real(text, Span(*match.span()), row.kind, match[0]):
                yield Span(*match.span()), row.kind


def _is_in_base64(text: str, at: int) -> bool:
    """Return whether what begins at `at` goes on with a word of base64: short prefixes occur in it by chance."""
    return text[at - 1 : at] in {"+", "/"} and text[at - 2 : at - 1].isalnum()


def _is_real(text: str, span: Span, kind: str, body: str) -> bool:
    """Return whether a token is not just an example of its format, a name that begins so, or the beginning of one."""
    if len(set(body)) <= _FEW_DISTINCT or is_example(body) or compiled(_CUT_OR_MASKED).match(text, span.end):
        return False
    if kind == _WEB_TOKEN:
        return is_web_token(span.of(text))
    if kind == _GUESSED:
        return is_random(body.rpartition("_")[2])
    letters = compiled("[^A-Za-z]").sub("", body)
    return kind in _AS_REQUIRED or compiled("[0-9]").search(body) is not None or is_shuffled(letters)
