//! Certificates for systems and adapters over TLS: one that is right, and every kind of wrong one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Right,
    WrongHost,
    Expired,
    NotYetValid,
    SelfSigned,
    UnknownIssuer,
}

impl Sort {
    /// Half of all cases have the right one, so that faults in the bytes have something to spoil.
    pub fn of(seed: u64) -> Sort {
        match seed % 10 {
            0 => Sort::WrongHost,
            1 => Sort::Expired,
            2 => Sort::NotYetValid,
            3 => Sort::SelfSigned,
            4 => Sort::UnknownIssuer,
            _ => Sort::Right,
        }
    }
}

/// An authority that is trusted, and one that is not.
struct Authorities {
    known: CertifiedIssuer<'static, KeyPair>,
    unknown: CertifiedIssuer<'static, KeyPair>,
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn authorities() -> io::Result<&'static Authorities> {
    static MADE: OnceLock<Result<Authorities, String>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let both = || {
            Ok(Authorities {
                known: authority()?,
                unknown: authority()?,
            })
        };
        both().map_err(|error: rcgen::Error| error.to_string())
    });
    made.as_ref().map_err(|why| io::Error::other(why.clone()))
}

/// The certificate of the trusted authority, as text.
pub fn trusted() -> io::Result<String> {
    Ok(authorities()?.known.pem())
}

/// A certificate and its key, as text.
fn certificate(sort: Sort) -> io::Result<(String, String)> {
    let authorities = authorities()?;
    let make = || {
        let host = match sort {
            Sort::WrongHost => "elsewhere.example",
            _ => "127.0.0.1",
        };
        let mut params = CertificateParams::new([host.to_owned()])?;
        match sort {
            Sort::Expired => params.not_after = date_time_ymd(2020, 1, 1),
            Sort::NotYetValid => params.not_before = date_time_ymd(2090, 1, 1),
            _ => {}
        }
        let key = KeyPair::generate()?;
        let made = match sort {
            Sort::SelfSigned => params.self_signed(&key)?,
            Sort::UnknownIssuer => params.signed_by(&key, &authorities.unknown)?,
            _ => params.signed_by(&key, &authorities.known)?,
        };
        Ok((made.pem(), key.serialize_pem()))
    };
    make().map_err(|error: rcgen::Error| io::Error::other(error))
}

/// For a system with such a certificate.
pub fn server(sort: Sort) -> io::Result<Arc<rustls::ServerConfig>> {
    let (certificate, key) = certificate(sort)?;
    let chain =
        vec![CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(io::Error::other)?];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(io::Error::other)?;
    let config = rustls::ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    config.map(Arc::new).map_err(io::Error::other)
}

/// For an adapter that trusts the authority.
pub fn client() -> io::Result<Arc<rustls::ClientConfig>> {
    let mut roots = rustls::RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(trusted()?.as_bytes()).map_err(io::Error::other)?;
    roots.add(root).map_err(io::Error::other)?;
    let config = rustls::ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(roots).with_no_client_auth());
    config.map(Arc::new).map_err(io::Error::other)
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Files with a certificate and its key, for `ioco` as the server.
pub fn files(sort: Sort, folder: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let (certificate, key) = certificate(sort)?;
    let paths = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&paths.0, certificate)?;
    std::fs::write(&paths.1, key)?;
    Ok(paths)
}
