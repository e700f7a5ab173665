"""Judges a token that has no telling name of its own, by what else its line says: the name of a service, or of a key.

`algolia: '…'`, `registry.New("quay.io", "deploy", "…")` and `if password in ['…']` tell as much as `api_key = '…'`
does. Such a token must be one that nobody could have written, and the line must not speak of hashes or versions. Loaded
only for texts with such a token. Pure.
"""

from __future__ import annotations

import re

from taskstate.syntax.patterns import compiled
from taskstate.validation.secret_values import UUID, is_harmless, is_jumbled, is_machine_made

# Services whose keys have no form of their own.
_SERVICES = """
abuseipdb accuweather adyen aftership agora airbrake airship aiven algolia amadeus amplitude anypoint apiflash appcues
appdynamics appfollow appsflyer assemblyai auth0 aweber baremetrics beamer binance bitbucket bitfinex bitly blogger
braintree brandfetch browserstack bugsnag buildkite bybit calendly cexio chargebee circleci clarifai clearbit
clickhelp clickup clockify cloudant cloudconvert cloudinary cloudsmith codacy codeclimate codecov coinapi coinbase
coingecko confluent contentful convertkit couchbase coveralls datadog datagov dd_api dd_app deepgram deepseek
delighted detectify disqus docusign dronahq droneci dwolla dynalist easypost elasticemail eventbrite fastly finnhub
fixer.io fleetbase flickr flutterwave foursquare freshbooks freshdesk freshworks fullstory gemini geoapify geocodio
getresponse ghost giphy gitter gocardless gumroad hellosign heroku hubspot hunter.io hypertrack infura intercom ipdata
ipinfo ipstack jumpcloud kickbox kraken kucoin lastfm launchdarkly linkedin livechat lob.com locationiq loggly logzio
mailboxlayer mailchimp mailerlite mailgun mailjet mailtrap mapbox mapquest mashape mattermost maxmind meraki
messagebird mixpanel monday.com mux.com nasa netcore nethunt newsapi nexmo nftport nytimes okta omise onelogin
onesignal opencage opsgenie pagerduty papertrail paypal pendo percy pingdom pipedream pipedrive plaid planyo plivo
positionstack postmark proxycrawl pubnub pushbullet pusher qualys quandl quay.io quickbooks raygun razorpay
rechargepayments redislabs restpack rollbar salesforce samsara sauce_labs saucelabs scrapingbee semaphore sendbird
sendinblue sentry shodan shutterstock simplynoted slack smartsheet snowflake snyk sparkpost splunk spotify squarespace
stormglass sumologic surveymonkey tatum telnyx textmagic ticketmaster todoist tomorrow.io tradier travisci trello
twelvedata twilio twitch twitter typeform uclassify unsplash uploadcare urlscan userstack vimeo virustotal vonage
weatherstack webflow wepay worldweather yandex yelp youneedabudget zendesk zenrows zenscrape zeplin zerobounce
zipcodeapi zoom
"""
_KEY_WORDS = r"passw(?:or)?d|api[_-]?key|secret[_-]?key|access[_-]?key"
# What is behind it is no key: the name of a thing, of a version, of a file's contents.
_NAMES = (
    r"(?:(?:[_-]|\b)(?:account|client|app|org|user|project|team|tenant|public|site|measurement)?[_-]?(?:id|sid|uuid|user(?:name)?|name"
    r"|url|uri|urn|path|ref|rev|etag|version|nonce|digest|hash|sha[0-9]{0,3}|md5|commit|fingerprint|public[_-]?key))"
    r"[\"'\]]{0,2}[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?\Z"
)
_CONTENTS = (
    r"\b(?:sha-?[0-9]{1,3}|integrity|commit|checksum|digest|md5|etag|hash(?:es|ed)?|resolved|cache|public|csrf)\b"
)
_HEX = r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}"
_LIKE_UUID = r"[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}"
_REACH = 160  # characters of the line that are looked at, before a token and behind it


def is_of_service(text: str, start: int, end: int, *, quoted: bool) -> bool:
    """Return whether what stands at `start` is a token of the service that its line names, or of the key."""
    value = text[start:end]
    before = re.split(r"[\r\n]", text[max(start - _REACH, 0) : start])[-1].lower()
    behind = re.split(r"[\r\n]", text[end : end + _REACH])[0].lower()
    if not _is_opaque(value) or compiled(_NAMES).search(before) or compiled(_CONTENTS).search(f"{before} {behind}"):
        return False
    if any(service in before or service in behind for service in _SERVICES.split()):  # faster than compiling them
        return True
    return quoted and not compiled(_HEX).fullmatch(value) and compiled(_KEY_WORDS).search(before) is not None


def _is_opaque(value: str) -> bool:
    """Return whether nobody would write a value by hand, and it does not name a request."""
    if is_harmless(value) or compiled(UUID).fullmatch(value) or not compiled("[0-9]").search(value):
        return False
    if "/" in value and not (len(value) >= 40 and compiled(r"[A-Za-z0-9+/]{40,}={0,2}").fullmatch(value)):  # noqa: PLR2004
        return False
    return is_jumbled(value.replace(".", "").rstrip("=")) or is_machine_made(value) or _is_like_uuid(value)


def _is_like_uuid(value: str) -> bool:
    return compiled(_LIKE_UUID).fullmatch(value) is not None
