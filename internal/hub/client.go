package hub

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultEndpoint is the hub of who names no other.
const DefaultEndpoint = "https://huggingface.co"

// Options say which hub, and as whom.
type Options struct {
	Endpoint string // "": DefaultEndpoint
	Token    string // of a user of the hub; "": none
}

// Client asks a hub.
type Client struct {
	endpoint *url.URL
	token    string
	http     *http.Client

	firstWait time.Duration // before a second try
	stall     time.Duration // without a byte, after which an answer is asked for again
}

const (
	dialTime   = 15 * time.Second
	answerTime = 60 * time.Second // to the head of an answer
	stallTime  = 30 * time.Second
	maxHops    = 10 // redirects
)

// New makes a client. The error is ErrEndpoint.
func New(o Options) (*Client, error) {
	address := cmp.Or(o.Endpoint, DefaultEndpoint)
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: %.200q: give it as https://HOST", ErrEndpoint, address)
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the token has characters that no token has", ErrEndpoint)
	}
	c := &Client{endpoint: u, token: o.Token, firstWait: firstWait, stall: stallTime}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSHandshakeTimeout:   dialTime,
		ResponseHeaderTimeout: answerTime,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   parallel,
		IdleConnTimeout:       answerTime,
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: c.redirect}
	return c, nil
}

// redirect follows a few redirects, without the token to any other host or port than
// the endpoint's, and never from https to http.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxHops {
		return fmt.Errorf("%w: more than %d redirects", ErrAnswer, maxHops)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("%w: it redirects from https to %s", ErrAnswer, req.URL.Scheme)
	}
	req.Header.Del("Authorization")
	c.authorize(req)
	return nil
}

// own says whether an address is of the endpoint's host.
func (c *Client) own(u *url.URL) bool {
	return u.Scheme == c.endpoint.Scheme && u.Host == c.endpoint.Host
}

func (c *Client) authorize(req *http.Request) {
	if c.token != "" && c.own(req.URL) {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
}

// address is that of a route. Parts are escaped; a slash in one is a part of it.
func (c *Client) address(parts ...string) *url.URL {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	return c.endpoint.JoinPath(escaped...)
}

// get asks for what lies at an address, from the byte from on; what names it in errors.
// The caller closes the body. Errors that may pass are passingErrors.
func (c *Client) get(ctx context.Context, u *url.URL, from int64, what string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEndpoint, err)
	}
	req.Header.Set("User-Agent", "cbactor")
	req.Header.Set("Accept-Encoding", "identity") // sizes are of the files
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	c.authorize(req)
	r, err := c.http.Do(req)
	if err != nil {
		return nil, unreached(err)
	}
	if r.StatusCode == http.StatusOK || r.StatusCode == http.StatusPartialContent || r.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return r, nil
	}
	return nil, errors.Join(c.refused(r, what), r.Body.Close())
}

// read asks as get does, and has take read the answer. An answer of which nothing comes for
// the time of a stall has an error that may pass.
func (c *Client) read(ctx context.Context, u *url.URL, from int64, what string, take func(r *http.Response, body io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := c.get(ctx, u, from, what)
	if err != nil {
		return err
	}
	silent := time.AfterFunc(c.stall, func() { cancel(passing("%s: nothing has come for %v", what, c.stall)) })
	defer silent.Stop()
	body := &meter{r: r.Body, seen: func() { silent.Reset(c.stall) }}
	err = errors.Join(take(r, body), r.Body.Close())
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err
}

// meter tells when bytes are read. What a connection fails with may pass.
type meter struct {
	r    io.Reader
	seen func()
}

// Read implements io.Reader.
func (m *meter) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if n > 0 {
		m.seen()
	}
	if err != nil && err != io.EOF {
		err = passing("%w", err)
	}
	return n, err
}

// unreached is the error of a request without an answer. A name that is not known and a
// certificate that is not right stay so. The address is left out: one that was redirected
// to often has a key of its own.
func unreached(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		host := at.URL
		if u, err := url.Parse(at.URL); err == nil {
			host = u.Host
		}
		err = fmt.Errorf("%s: %w", host, at.Err)
	}
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, ErrAnswer):
		return err
	case errors.As(err, &dns) && dns.IsNotFound, errors.As(err, &cert):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return passing("%w", err)
}

// refused is the error of an answer that is no success. The hub says why in headers.
func (c *Client) refused(r *http.Response, what string) error {
	code, said := r.Header.Get("X-Error-Code"), detail(r)
	switch s := r.StatusCode; {
	case code == "GatedRepo":
		return fmt.Errorf("%w to %s: accept its terms on its page of the hub and give a token of yours in HF_TOKEN%s", ErrDenied, what, said)
	case s == http.StatusUnauthorized && c.token == "", s == http.StatusForbidden && c.token == "":
		return fmt.Errorf("%w to %s: is the name right? If it is private, give a token in HF_TOKEN%s", ErrDenied, what, said)
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return fmt.Errorf("%w to %s: the name, or the token in HF_TOKEN, is not right%s", ErrDenied, what, said)
	case s == http.StatusNotFound:
		return fmt.Errorf("%w: %s%s", ErrNotFound, what, said)
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s >= 500:
		return &passingError{error: fmt.Errorf("%s: status %d%s", what, s, said), after: retryAfter(r, time.Now())}
	}
	return fmt.Errorf("%w: status %d for %s%s", ErrAnswer, r.StatusCode, what, said)
}

// detail is what the hub says of an error, in a few words.
func detail(r *http.Response) string {
	const limit = 200
	said := r.Header.Get("X-Error-Message")
	if said == "" {
		return ""
	}
	return fmt.Sprintf(" (%.*q)", limit, said)
}

// readAll reads an answer of at most limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, passing("read an answer: %w", err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrAnswer, limit)
	}
	return body, nil
}
